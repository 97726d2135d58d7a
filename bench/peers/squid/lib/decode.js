// From a log to the movements of NFTs that it tells. Logs that only look like transfers give none.

export const topics = {
  transfer: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
  transferSingle: '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62',
  transferBatch: '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb',
}

export function movementsOf(log) {
  if (log.topics.length !== 4) return []
  const [topic, first, second, third] = log.topics
  switch (topic) {
    case topics.transfer:
      if (log.data !== '0x') return []
      return [{ standard: 'ERC721', from: address(first), to: address(second), tokenId: BigInt(third), amount: 1n }]
    case topics.transferSingle: {
      if (log.data.length !== 2 + 128) return []
      const parties = { operator: address(first), from: address(second), to: address(third) }
      return [{ standard: 'ERC1155', ...parties, tokenId: word(log.data, 0), amount: word(log.data, 1) }]
    }
    case topics.transferBatch: {
      const ids = list(log.data, 0)
      const amounts = list(log.data, 1)
      if (ids === undefined || ids.length !== amounts?.length) return []
      const parties = { operator: address(first), from: address(second), to: address(third) }
      return ids.map((tokenId, at) => ({ standard: 'ERC1155', ...parties, tokenId, amount: amounts[at] }))
    }
    default:
      return []
  }
}

function address(topic) {
  return `0x${topic.slice(26)}`
}

function word(data, at) {
  return BigInt(`0x${data.slice(2 + at * 64, 2 + (at + 1) * 64)}`)
}

/** The list whose offset stands at a word; undefined where it does not lie within the data. */
function list(data, at) {
  const words = (data.length - 2) / 64
  if (words <= at) return undefined
  const start = Number(word(data, at)) / 32
  if (!Number.isInteger(start) || start >= words) return undefined
  const length = Number(word(data, start))
  if (start + 1 + length > words) return undefined
  return Array.from({ length }, (_, entry) => word(data, start + 1 + entry))
}
