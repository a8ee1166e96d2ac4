/*
 * crc_table.h - writes out CRC tables as constants: an entry is the XOR of the entries of the bits of its index.
 *
 * So a table of 256 entries stands in the source as the eight entries of single bits: b7 for index 0x80, down to b0 for index 1.
 */
#ifndef BASE_CRC_TABLE_H
#define BASE_CRC_TABLE_H

#define CRC_BIT(n, bit, value) ((((n) >> (bit)) & 1) != 0 ? (value) : 0)
#define CRC_ENTRY(n, b7, b6, b5, b4, b3, b2, b1, b0)                                               \
	CRC_BIT(n, 7, b7) ^ CRC_BIT(n, 6, b6) ^ CRC_BIT(n, 5, b5) ^ CRC_BIT(n, 4, b4) ^            \
		CRC_BIT(n, 3, b3) ^ CRC_BIT(n, 2, b2) ^ CRC_BIT(n, 1, b1) ^ CRC_BIT(n, 0, b0)
#define CRC_ENTRIES_4(n, ...)                                                                      \
	CRC_ENTRY((n), __VA_ARGS__), CRC_ENTRY((n) + 1, __VA_ARGS__),                              \
		CRC_ENTRY((n) + 2, __VA_ARGS__), CRC_ENTRY((n) + 3, __VA_ARGS__)
#define CRC_ENTRIES_16(n, ...)                                                                     \
	CRC_ENTRIES_4((n), __VA_ARGS__), CRC_ENTRIES_4((n) + 4, __VA_ARGS__),                      \
		CRC_ENTRIES_4((n) + 8, __VA_ARGS__), CRC_ENTRIES_4((n) + 12, __VA_ARGS__)
#define CRC_ENTRIES_64(n, ...)                                                                     \
	CRC_ENTRIES_16((n), __VA_ARGS__), CRC_ENTRIES_16((n) + 16, __VA_ARGS__),                   \
		CRC_ENTRIES_16((n) + 32, __VA_ARGS__), CRC_ENTRIES_16((n) + 48, __VA_ARGS__)
/* clang-format off */
#define CRC_TABLE(...)                                                             \
	{                                                                          \
		CRC_ENTRIES_64(0, __VA_ARGS__), CRC_ENTRIES_64(64, __VA_ARGS__),   \
		CRC_ENTRIES_64(128, __VA_ARGS__), CRC_ENTRIES_64(192, __VA_ARGS__) \
	}
/* clang-format on */

#endif
