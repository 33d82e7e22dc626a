/* SPDX-License-Identifier: MIT */
/* The hot structs of libmglru, for their debug information alone: see linewise.conf. */
#include "memcg/memcg.h"
#include "memcg/stock.h"
#include "reclaim/lruvec.h"

struct memcg *own_memcg;
struct page_counter *own_page_counter;
struct rstat_tree *own_rstat_tree;
struct rstat_node *own_rstat_node;
struct memcg_stock_cpu *own_stock_cpu;
struct lruvec *own_lruvec;
struct folio *own_folio;
