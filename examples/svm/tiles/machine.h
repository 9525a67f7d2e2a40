/* Lets the examples run on the machine `tiles`: its nodes under the names that the examples use. tiles.h is what
 * `strata machine tiles.yaml --header -o tiles.h` writes. */
#ifndef EXAMPLE_MACHINE_H
#define EXAMPLE_MACHINE_H

#include "tiles.h"

#define GLOBALMEM1 DRAM
#define GLOBALMEM_BYTES DRAM_BYTES
#define GLOBALMEM_UNIT DRAM_UNIT

/* Tiles are taken from the far end of the mesh. */
#define LOCALMEM1 SCRATCHPAD12
#define LOCALMEM2 SCRATCHPAD11
#define LOCALMEM3 SCRATCHPAD10
#define LOCALMEM4 SCRATCHPAD9
#define LOCALMEM5 SCRATCHPAD8
#define LOCALMEM6 SCRATCHPAD7
#define LOCALMEM7 SCRATCHPAD6
#define LOCALMEM8 SCRATCHPAD5
#define LOCALMEM_BYTES SCRATCHPAD_BYTES
#define LOCALMEM_UNIT SCRATCHPAD_UNIT

#define PROC1 TILE12
#define PROC2 TILE11
#define PROC3 TILE10
#define PROC4 TILE9
#define PROC5 TILE8
#define PROC6 TILE7
#define PROC7 TILE6
#define PROC8 TILE5

#define DMA1 ENGINE1
#define DMA2 ENGINE3

#define FIFO1 QUEUE10
#define FIFO2 QUEUE9
#define FIFO3 QUEUE8
#define FIFO4 QUEUE7
#define FIFO5 QUEUE6
#define FIFO6 QUEUE5
#define FIFO7 QUEUE4
#define FIFO8 QUEUE3

#endif
