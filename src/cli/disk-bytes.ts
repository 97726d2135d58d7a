// What rows take on the disk, for estimates.
/** Measured on stores of some million rows, indexes and free space included; docs/scale.md has the tables. */
export const diskBytes = {
  file: { transfer: 118, address: 130, block: 55, measured: '110 to 125' },
  postgres: { transfer: 211, address: 251, block: 109, measured: '209 to 213' },
}
