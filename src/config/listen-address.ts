// Takes `host:port` apart. Pure.

export type ListenAddress = { host: string; port: number }

/** `:8080` is every address of the machine; an IPv6 address stands in brackets. Undefined for anything else. */
export function parseListen(text: string): ListenAddress | undefined {
  const parts = /^(?:\[([0-9a-f:.]+)\]|([^\s:/@[\]]*)):(\d{1,5})$/i.exec(text)
  if (parts === null || Number(parts[3]) > 65_535) return undefined
  return { host: parts[1] ?? (parts[2] || '0.0.0.0'), port: Number(parts[3]) }
}
