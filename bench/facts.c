/*
 * facts.c - the build, the machine and its kernel, in words.
 */
#include "facts.h"

#include <ext4core/version.h>

#include <stdio.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

/* The first processor's name; "processor" where /proc does not tell. */
static void processor_name(char *ret, size_t size)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char line[256];
	char *value;

	snprintf(ret, size, "processor");
	while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
		value = strchr(line, ':');
		if (strncmp(line, "model name", 10) == 0 && value != NULL) {
			line[strcspn(line, "\n")] = '\0';
			snprintf(ret, size, "%s", value + 2);
			break;
		}
	}
	if (f != NULL) {
		(void)fclose(f);
	}
}

void facts_init(struct facts *f)
{
	struct utsname u;
	struct sysinfo si;
	char name[96];

	processor_name(name, sizeof(name));
	memset(&si, 0, sizeof(si));
	sysinfo(&si);
	memset(&u, 0, sizeof(u));
	uname(&u);
	snprintf(f->build, sizeof(f->build), "ext4core %s, %s", e4_version(), BENCH_BUILD);
	snprintf(f->machine, sizeof(f->machine), "%d x %s, %lu MiB", get_nprocs(), name,
		si.totalram / (1024 * 1024 / (si.mem_unit ? si.mem_unit : 1)));
	snprintf(f->kernel, sizeof(f->kernel), "%.40s %.80s %.30s", u.sysname, u.release, u.machine);
}

void facts_write(const struct facts *f, struct json *j)
{
	json_text(j, "build", f->build);
	json_text(j, "machine", f->machine);
	json_text(j, "kernel", f->kernel);
}
