// Asks for something until an endpoint's answer passes its check: whoever fails is told on and not asked again. It checks nothing itself.
import type { Chain } from '../../chains.ts'
import { AlmanacError } from '../../errors.ts'
import type { Interval } from '../../model.ts'
import type { RpcPort } from '../rpc/port.ts'

export type CheckedAsk<Answers, Result> = {
  chain: Chain
  rpc: RpcPort
  interval: Interval
  /** Of anybody but these. */
  ask: (exclude: ReadonlySet<string>) => Promise<Answers>
  /** What the answers mean, or the reason why they cannot be right. */
  check: (answers: Answers) => Promise<Result | string> | Result | string
}

export async function askChecked<Answers extends { endpoint: string }, Result extends object>({
  chain,
  rpc,
  interval,
  ask,
  check,
}: CheckedAsk<Answers, Result>): Promise<Result> {
  const distrusted = new Set<string>()
  for (;;) {
    const answers = await ask(distrusted)
    const checked = await check(answers)
    if (typeof checked !== 'string') return checked
    rpc.distrust(answers.endpoint, checked)
    distrusted.add(answers.endpoint)
    if (distrusted.size < rpc.endpoints.length) continue
    const who = distrusted.size === 1 ? `endpoint ${answers.endpoint}` : `all ${distrusted.size} endpoints`
    throw checkFailed(chain, interval, `${who}: ${checked}`)
  }
}

export function checkFailed(chain: Chain, { from, to }: Interval, reason: string): AlmanacError {
  return new AlmanacError('upstream_invalid', `${chain.name} blocks ${from} to ${to} failed their check: ${reason}.`, {
    retryable: true,
    hint: `add an endpoint of another provider to chains.${chain.name}.rpc; nothing wrong is stored meanwhile.`,
  })
}
