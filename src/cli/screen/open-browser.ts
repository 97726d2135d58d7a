// Opens an address in the person's browser. It waits for nothing, and says so where there is none.
import { spawn } from 'node:child_process'

const openers: Readonly<Partial<Record<NodeJS.Platform, string>>> = { darwin: 'open', linux: 'xdg-open' }

/** Calls `fallback` where no browser could be started. */
export function openBrowser(url: string, fallback: () => void, environment = process.env): void {
  const opener = openers[process.platform]
  const hasDesktop = process.platform !== 'linux' || Boolean(environment.DISPLAY || environment.WAYLAND_DISPLAY)
  if (opener === undefined || !hasDesktop) {
    fallback()
    return
  }
  const child = spawn(opener, [url], { stdio: 'ignore', detached: true, env: environment })
  let failed = false
  const fail = (): void => {
    if (!failed) fallback()
    failed = true
  }
  child.once('error', fail)
  child.once('exit', code => {
    if (code !== 0) fail()
  })
  child.unref()
}
