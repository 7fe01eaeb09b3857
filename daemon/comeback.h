/* SPDX-License-Identifier: MIT
 *
 * Sweeps that were paused because their device went away go on by themselves when it is back.  While such a sweep
 * waits, the kernel's uevents of block devices are listened to, and after some of them (and seldom without) a child
 * looks whether the guard accepts the device: the identity of the configuration decides, never a kernel name, for
 * names are reused at once.  So does what a sweep has left on a device that was away when it was to be undone: that
 * is undone when the device is back, whatever has become of the sweep.  While none waits there is no listening and no
 * timer.
 *
 *   silent ──a sweep waits──▶ WATCHING ──event, or time──▶ LOOKING (a child) ──accepted──▶ the sweep is queued
 *      ▲                        │    ▲                        │ not there, or refused
 *      └──── none waits ────────┘    └────────────────────────┘
 */
#ifndef IOSWEEP_COMEBACK_H
#define IOSWEEP_COMEBACK_H

struct daemon;
struct comeback;

struct comeback *comeback_new(struct daemon *d);
/* To be called after every change of the queue: begins or ends the watch, as needed. */
void comeback_look(struct comeback *c);
void comeback_close(struct comeback *c); /* what it has in the loop */
void comeback_free(struct comeback *c);  /* after the loop has ended */

#endif
