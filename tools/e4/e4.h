#ifndef TOOLS_E4_E4_H
#define TOOLS_E4_E4_H

#include "common/args.h"
#include "common/json.h"

#include <ext4core/ext4core.h>

/* Each answers an exit status. */
int e4_cat(const struct command *command, int argc, char **argv);
int e4_df(const struct command *command, int argc, char **argv);
int e4_du(const struct command *command, int argc, char **argv);
int e4_get(const struct command *command, int argc, char **argv);
int e4_info(const struct command *command, int argc, char **argv);
int e4_later(const struct command *command, int argc, char **argv);
int e4_ls(const struct command *command, int argc, char **argv);
int e4_manifest(const struct command *command, int argc, char **argv);
int e4_map(const struct command *command, int argc, char **argv);
int e4_print_link(const struct command *command, int argc, char **argv);
int e4_print_stat(const struct command *command, int argc, char **argv);
int e4_recover(const struct command *command, int argc, char **argv);
int e4_tree(const struct command *command, int argc, char **argv);
int e4_xattr(const struct command *command, int argc, char **argv);

/* The keys of `e4 stat --json`, into an object that the caller has begun. */
void stat_json(struct json *j, const struct e4_stat *st);

#endif
