/*
 * outside.c - the smallest program outside: every public header and one symbol.
 */
#include <ext4core/ext4core.h>

#include <stdio.h>

int main(void)
{
	printf("ext4core %s\n", e4_version());
	return 0;
}
