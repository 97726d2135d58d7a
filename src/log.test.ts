import { describe, expect, test } from 'vitest'
import { createLog, type LogOptions, LogThrottle } from './log.ts'

function written(options: Partial<LogOptions>, say: (log: ReturnType<typeof createLog>) => void): string[] {
  const lines: string[] = []
  say(createLog({ level: 'info', format: 'json', write: line => lines.push(line), ...options }))
  return lines
}

describe('the log', () => {
  test('JSON lines with a level in words and an ISO time', () => {
    const [line] = written({}, log => log.info({ chain: 'eth' }, 'Head is 5.'))
    expect(JSON.parse(line!)).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      chain: 'eth',
      msg: 'Head is 5.',
    })
  })

  test('hides keys and the secret parts of addresses, in fields, messages and errors', () => {
    const secret = 'S3cr3tS3cr3t'
    const lines = written({ hidden: [`op"${secret}`] }, log => {
      log.info({ headers: { 'x-api-key': secret }, key: secret, secret }, 'x')
      log.info({ endpoint: `https://rpc.example/${secret}` }, `https://rpc.example/${secret} is slow`)
      log.error({ err: new Error(`fetch https://u:${secret}@rpc.example failed`) }, 'x')
      log.info(`alm_${secret} and op"${secret}`)
    })
    expect(lines).toHaveLength(4)
    expect(lines.join('')).not.toContain(secret)
    expect(lines[1]).toContain('https://rpc.example/…')
  })

  test('readable lines stay lines, and a terminal obeys nothing in them', () => {
    const [line] = written({ format: 'text' }, log =>
      log.warn({ name: 'a\u001b[2J\nb', err: new Error('no\nroute') }, 'Cannot\rread.'),
    )
    expect(line).toMatch(/^\d\d:\d\d:\d\d warn {2}Cannot read\. no route name=a \[2J b\n$/)
  })

  test('colours only when asked', () => {
    expect(written({ format: 'text', colours: true }, log => log.warn('x'))[0]).toContain('\u001b[33m')
  })
})

test('repeated failures are said once per interval, with a count', () => {
  let now = 0
  const throttle = new LogThrottle(1_000, () => now)
  const said: number[] = []
  for (now = 0; now < 2_500; now += 100) throttle.say('eth', repeated => said.push(repeated))
  throttle.say('polygon', repeated => said.push(repeated))
  expect(said).toEqual([0, 9, 9, 0])
})
