/** @file ext4core.h
 *  Everything public. */
#ifndef EXT4CORE_EXT4CORE_H
#define EXT4CORE_EXT4CORE_H

#include <ext4core/blockdev.h>
#include <ext4core/dir.h>
#include <ext4core/error.h>
#include <ext4core/file.h>
#include <ext4core/fs.h>
#include <ext4core/hooks.h>
#include <ext4core/map.h>
#include <ext4core/types.h>
#include <ext4core/version.h>

#endif
