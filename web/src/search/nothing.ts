// What to say where a search found nothing. Pure.

type Told = {
  text: string
  /** Those whose nodes were asked. */
  chains: readonly string[]
  /** Where in names the text was looked for. */
  names: string | null
}

export function nothingFound({ text: given, chains, names }: Told): { title: string; advice: string } {
  const text = given.trim()
  const [, digits] = /^0x([0-9a-f]*)$/i.exec(text) ?? []
  if (digits?.length === 64)
    return {
      title: 'No chain here has a block or a transaction with this hash',
      advice:
        chains.length === 0
          ? 'A node of each chain was asked.'
          : `A node of each was asked: ${chains.join(', ')}. It may belong to another chain, or still wait for a block.`,
    }
  const title = `Nothing here has “${text}”`
  if (digits !== undefined)
    return { title, advice: `An address has 40 digits after 0x, a hash 64. This has ${digits.length}.` }
  return {
    title,
    advice:
      names === 'beginnings'
        ? 'This store has many names, so they are found by their beginning. Try that, or the whole address or hash.'
        : 'Try a whole address or hash, the number of a block, or a part of a name or label.',
  }
}
