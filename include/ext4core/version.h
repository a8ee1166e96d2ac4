/** @file version.h
 *  The version of the library, of its ABI and of what it writes to disks. */
#ifndef EXT4CORE_VERSION_H
#define EXT4CORE_VERSION_H

#define E4_VERSION_MAJOR 0
#define E4_VERSION_MINOR 1
#define E4_VERSION_PATCH 0

#ifdef __cplusplus
#define E4_BEGIN_DECLS extern "C" {
#define E4_END_DECLS   }
#else
#define E4_BEGIN_DECLS
#define E4_END_DECLS
#endif

/* Everything declared in these headers, and nothing else, is exported. */
#if defined(__GNUC__)
#define E4_API __attribute__((visibility("default")))
#else
#define E4_API
#endif

E4_BEGIN_DECLS

/**
 * The version of the library that is linked, which may be newer than the headers.
 * @return a string such as "0.1.0", valid for ever; never NULL.
 * @errors none.
 * *Threads*: any. *Durability*: none. *Ownership*: the library's. *Blocking*: never.
 * @since 0.1
 * @source none; a convention of C libraries.
 */
E4_API const char *e4_version(void);

E4_END_DECLS

#endif
