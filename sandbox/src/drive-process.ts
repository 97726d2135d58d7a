// The child's side of a driven process: prints a first line, answers each call with one JSON line, and exits when its
// input ends.
import { createInterface } from 'node:readline'

export async function beDriven(
  first: object,
  call: (method: string, args: readonly unknown[]) => unknown,
): Promise<never> {
  const say = (value: object): boolean => process.stdout.write(`${JSON.stringify(value)}\n`)
  say(first)
  for await (const line of createInterface({ input: process.stdin })) {
    const { method, args } = JSON.parse(line) as { method: string; args: unknown[] }
    try {
      say({ result: (await call(method, args)) ?? null })
    } catch (error) {
      say({ error: String(error) })
    }
  }
  process.exit(0)
}
