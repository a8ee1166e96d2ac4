/*
 * async.h - how a finished request finds its way back to whoever waits for it.
 *
 * While in flight, req->route points to a struct route: the thread's inbox of the device the caller used, or the flight of a
 * stacked device whose child the request is.
 */
#ifndef BLOCKDEV_ASYNC_H
#define BLOCKDEV_ASYNC_H

#include "blockdev/blockdev_impl.h"
#include "blockdev/local.h"

struct route {
	/* Takes a finished request; returns the next one that is finished by that, or NULL. */
	struct e4_blockdev_request *(*done)(struct route *route, struct e4_blockdev_request *req);
};

struct inbox;

/* A request on its way through one stacked device. */
struct flight {
	struct route route;
	struct flight *next;     /* in the inbox's spares */
	struct flight *next_all; /* in the list of all it made */
	struct inbox *inbox;
	struct e4_blockdev *dev;            /* the stacked one */
	struct e4_blockdev_request *parent; /* as handed to it */
	struct e4_blockdev_request child;   /* as handed to the lower one */
};

/* What a thread has of a device it submits to. All fields are its thread's. */
struct inbox {
	struct local local;
	struct route route;
	struct env *env;
	struct e4_blockdev_request *first, *last; /* finished, linked by req->internal */
	uint32_t ready_count;
	uint32_t in_flight_count; /* not finished yet */
	struct flight *spare, *all;
};

#endif
