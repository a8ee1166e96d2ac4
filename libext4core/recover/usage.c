/*
 * usage.c - who is charged for what recovery frees and takes, where usage is tracked (orphans-mmp-quota-verity-crypt.md 3).
 *
 * Owns:    recovery->usage: of each inode what it was charged with when recovery first met it.
 * Locks:   none.
 * Always:  nothing is charged on the way. At the end every noted inode is looked at again, and the differences are added up by owner:
 *          however an inode came to be what it is, its owner is charged for that.
 * Uses:    quota_file.c, inode.
 */
#include "base/math.h"
#include "base/mem.h"
#include "recover/quota_file.h"
#include "recover/recover_impl.h"

#include <errno.h>

/* What an inode costs, and whom. */
struct charge {
	uint32_t ids[QUOTA_TYPES];
	uint64_t space;  /* bytes */
	uint64_t inodes; /* itself and its values in EA inodes; 0 = it is charged to nobody */
};

struct usage_note {
	struct list hash;
	inum_t ino;
	struct charge before;
};

struct usage_change {
	struct list hash;
	enum quota_type type;
	uint32_t id;
	int64_t space, inodes;
};

struct usage {
	struct list notes[RECOVER_HASH];
	struct list changes[RECOVER_HASH];
	uint32_t count; /* notes */
};

/* Without the feature, or when nothing will be written, there is nothing to note. */
int usage_begin(struct recovery *r)
{
	if (!r->rq->for_good || !volume_has_ro_compat(r->vol, FEATURE_RO_COMPAT_QUOTA))
		return 0;
	r->usage = mem_zalloc(r->env, sizeof(*r->usage));
	if (r->usage == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < RECOVER_HASH; i++) {
		list_init(&r->usage->notes[i]);
		list_init(&r->usage->changes[i]);
	}
	return 0;
}

void usage_drop(struct recovery *r)
{
	if (r->usage == NULL)
		return;
	for (uint32_t i = 0; i < RECOVER_HASH; i++) {
		list_for_safe (it, tmp, &r->usage->notes[i]) {
			struct usage_note *n = container_of(it, struct usage_note, hash);

			mem_free(r->env, n, sizeof(*n));
		}
		list_for_safe (it, tmp, &r->usage->changes[i]) {
			struct usage_change *c = container_of(it, struct usage_change, hash);

			mem_free(r->env, c, sizeof(*c));
		}
	}
	mem_free(r->env, r->usage, sizeof(*r->usage));
	r->usage = NULL;
}

/* An entry of each kind for each inode. */
uint32_t usage_blocks(const struct recovery *r)
{
	return r->usage != NULL ? r->usage->count * QUOTA_TYPES : 0;
}

/* --- charges -------------------------------------------------------------------------------------------------------------- */

static bool is_charged(const struct recovery *r, const struct inode *ip)
{
	if (ip->ino < r->vol->first_ino && ip->ino != INODE_ROOT)
		return false;
	return (ip->flags & INODE_FL_EA_INODE) == 0 &&
	       ip->ino != le32_get(r->super.orphan_file_inum) &&
	       ip->ino != quota_file_inum(r, QUOTA_PROJECT);
}

static int count_value(void *arg, const struct xattr_value *v)
{
	struct charge *c = arg;

	c->inodes += v->value_ino != 0;
	return 0;
}

static int charge_of(const struct recovery *r, struct inode *ip, struct charge *ret)
{
	*ret = (struct charge){.inodes = 0};
	if (!is_charged(r, ip))
		return 0;
	*ret = (struct charge){
		.ids = {ip->uid, ip->gid, ip->projid},
		.space = ip->blocks512 * 512,
		.inodes = 1,
	};
	return xattr_foreach(ip, count_value, ret);
}

static struct usage_note *find_note(const struct recovery *r, inum_t ino)
{
	list_for (it, &r->usage->notes[ino % RECOVER_HASH]) {
		struct usage_note *n = container_of(it, struct usage_note, hash);

		if (n->ino == ino)
			return n;
	}
	return NULL;
}

static int add_note(struct recovery *r, inum_t ino, const struct charge *before)
{
	struct usage_note *n = mem_zalloc(r->env, sizeof(*n));

	if (n == NULL)
		return -ENOMEM;
	n->ino = ino;
	n->before = *before;
	list_add_tail(&r->usage->notes[ino % RECOVER_HASH], &n->hash);
	r->usage->count++;
	return 0;
}

/* An inode in use that recovery may change, before it does. Only the first time counts. */
int usage_note_inode(struct recovery *r, struct inode *ip)
{
	struct charge before;

	if (r->usage == NULL || find_note(r, ip->ino) != NULL)
		return 0;
	int err = charge_of(r, ip, &before);

	return err != 0 ? err : add_note(r, ip->ino, &before);
}

/* A free inode that recovery takes. */
int usage_note_free(struct recovery *r, inum_t ino)
{
	if (r->usage == NULL || find_note(r, ino) != NULL)
		return 0;
	return add_note(r, ino, &(struct charge){.inodes = 0});
}

/* --- changes ------------------------------------------------------------------------------------------------------------- */

static int get_change(
	struct recovery *r, enum quota_type type, uint32_t id, struct usage_change **ret)
{
	struct list *bucket = &r->usage->changes[id % RECOVER_HASH];

	list_for (it, bucket) {
		*ret = container_of(it, struct usage_change, hash);
		if ((*ret)->type == type && (*ret)->id == id)
			return 0;
	}
	*ret = mem_zalloc(r->env, sizeof(**ret));
	if (*ret == NULL)
		return -ENOMEM;
	(*ret)->type = type;
	(*ret)->id = id;
	list_add_tail(bucket, &(*ret)->hash);
	return 0;
}

/* Adds the charge to its owners (sign 1), or takes it from them (-1). */
static int add_charge(struct recovery *r, const struct charge *charge, int sign)
{
	if (charge->inodes == 0)
		return 0;
	for (uint32_t type = 0; type < QUOTA_TYPES; type++) {
		struct usage_change *c;
		int err = get_change(r, (enum quota_type)type, charge->ids[type], &c);

		if (err != 0)
			return err;
		/* i_blocks has 48 bits, so this is far from overflow. */
		c->space += sign * (int64_t)charge->space;
		c->inodes += sign * (int64_t)charge->inodes;
	}
	return 0;
}

static int compare(struct recovery *r, const struct usage_note *n)
{
	struct charge after = {.inodes = 0};
	struct rinode *ri;
	bool used = false;
	int err = bitmap_inode_used(r, n->ino, &used);

	if (err == 0 && used) {
		err = rinode_get(r, n->ino, INODE_FOR_ORPHAN, &ri);
		if (err == 0)
			err = charge_of(r, &ri->ip, &after);
	}
	if (err == 0)
		err = add_charge(r, &n->before, -1);
	return err != 0 ? err : add_charge(r, &after, 1);
}

static int write_type(struct recovery *r, enum quota_type type)
{
	struct quota_file q;
	bool opened = false;
	int err = 0;

	for (uint32_t i = 0; i < RECOVER_HASH; i++) {
		list_for (it, &r->usage->changes[i]) {
			struct usage_change *c = container_of(it, struct usage_change, hash);

			if (c->type != type || (c->space == 0 && c->inodes == 0))
				continue;
			if (!opened)
				err = quota_file_open(r, type, &q);
			opened = true;
			if (err == 0)
				err = quota_file_change(&q, c->id, c->space, c->inodes);
			if (err != 0)
				return err;
		}
	}
	return 0;
}

/* What changed since the notes were taken, into the files. */
int usage_write(struct recovery *r)
{
	int err = 0;

	if (r->usage == NULL)
		return 0;
	for (uint32_t i = 0; i < RECOVER_HASH && err == 0; i++) {
		list_for (it, &r->usage->notes[i]) {
			err = compare(r, container_of(it, struct usage_note, hash));
			if (err != 0)
				return err;
		}
	}
	for (uint32_t type = 0; type < QUOTA_TYPES && err == 0; type++) {
		if (quota_file_inum(r, (enum quota_type)type) != 0)
			err = write_type(r, (enum quota_type)type);
	}
	return err;
}
