// What the explorer can be asked for: the names of the operations, and parameters as texts.

export const operationNames = ['transfers', 'wallet', 'portfolio'] as const
export type OperationName = (typeof operationNames)[number]

/** As they stand in the form and in the address. */
export type Values = Readonly<Record<string, string>>
