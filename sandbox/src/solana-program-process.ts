// Runs the small Solana node in a process of its own that `solana-node.ts` starts.
import { beDriven } from './drive-process.ts'
import { startProgramNode } from './solana-program-node.ts'

const node = await startProgramNode(JSON.parse(process.argv[2] ?? '{}'))

type Written = { lamports: number; data: number[]; program: string }

await beDriven({ rpcUrl: node.rpcUrl, wsUrl: node.wsUrl }, async (method, [first, second]) => {
  if (method === 'fund') await node.fund(first as string, second as number)
  else if (method === 'travelTo') await node.travelTo(first as number)
  else if (method === 'setAccount') {
    const { lamports, data, program } = second as Written
    await node.setAccount(first as string, { lamports, data: Uint8Array.from(data), program })
  } else throw new Error(`no call ${method}`)
})
