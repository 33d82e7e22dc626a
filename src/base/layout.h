/* SPDX-License-Identifier: MIT */
/*
 * In which order this build lays out the structs that many CPUs meet on: our own, or for comparison
 * the kernel's before and after the changes of documents 000, 001 and 004. One switch,
 * -DMGLRU_LAYOUT=..., for all files of the library; the code is the same.
 */
#ifndef BASE_LAYOUT_H
#define BASE_LAYOUT_H

#define MGLRU_LAYOUT_OURS 0
#define MGLRU_LAYOUT_BEFORE 1
#define MGLRU_LAYOUT_AFTER 2

#ifndef MGLRU_LAYOUT
#define MGLRU_LAYOUT MGLRU_LAYOUT_OURS
#endif

#endif
