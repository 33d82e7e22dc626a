/* SPDX-License-Identifier: MIT */
/*
 * A proposal as a change of the source text.
 *
 * A member's block is its declaration, up to the line with the semicolon, and the comment lines
 * directly above it. Blocks move as they are; a stated alignment becomes _Alignas in front of the
 * declaration. Nothing is written that the source does not bear out: each member's name must stand
 * on the line that the debug information gives.
 */
#ifndef LAYOUT_PATCH_H
#define LAYOUT_PATCH_H

#include "layout/set.h"
#include "layout/suggest.h"

/*
 * Makes a unified diff with three lines of context. @patch: NULL after an error; the caller frees
 * it. Reads the source files that the debug information names. May block.
 * 0; MGLRU_ENOENT: a source file is not there; MGLRU_ENOTSUP: the debug information has no lines
 * (BTF), or the text does not allow the move (members share a line, the file changed); @error says
 * which; MGLRU_EPERM, MGLRU_EIO, MGLRU_ENOMEM.
 */
int layout_patch_make(const struct layout_suggestion *suggestion, char **patch,
                      struct layout_error *error);

#endif
