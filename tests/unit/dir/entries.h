/* entries.h - directory blocks laid out by hand. */
#ifndef TESTS_DIR_ENTRIES_H
#define TESTS_DIR_ENTRIES_H

#include <stdint.h>

/* An entry at p; rec_len as it stands on the disk. */
void put_entry(uint8_t *p, uint32_t ino, uint32_t rec_len, const char *name);
/* A block of `size` bytes with these names (ended by NULL), inode numbers from `ino` on; the last entry reaches to the end. */
void put_block(uint8_t *p, uint32_t size, uint32_t ino, const char *const *names);
/* An index root: "." and "..", header, `count` entries of (hash, block). limit as the format has it, without checksums. */
void put_root(uint8_t *p, uint32_t size, uint8_t version, uint8_t levels);
void put_node(uint8_t *p, uint32_t size);
/* Appends to the entries of a root or node; the first one's hash is not stored. */
void put_index(uint8_t *p, uint32_t entries_offset, uint32_t hash, uint32_t block);

#endif
