// What rows take on the disk, for estimates.
/** Measured on stores of some million rows, indexes and free space included; docs/scale.md has the tables. */
export const diskBytes = {
  file: { transfer: 100, address: 108, block: 55, measured: '96 to 118' },
  postgres: { transfer: 211, address: 251, block: 109, measured: '209 to 213' },
}
