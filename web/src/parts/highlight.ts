// Tells the parts of a short program apart, for colours: texts, comments, numbers and words of the language. Pure.

export type Language = 'shell' | 'typescript' | 'python'
export type Token = { kind: 'text' | 'mark' | 'number' | 'word' | undefined; text: string }

const words: Readonly<Record<Language, string>> = {
  shell: 'curl',
  typescript: 'import|from|const|await|if|throw|new|console',
  python: 'import|from|with|as|print',
}

const comments: Readonly<Record<Language, string>> = { shell: '#', typescript: '//', python: '#' }

export function tokensOf(code: string, language: Language): Token[] {
  const parts = [
    `(?<text>"(?:\\\\.|[^"\\\\])*"|'(?:\\\\.|[^'\\\\])*'|\`(?:\\\\.|[^\`\\\\])*\`)`,
    `(?<mark>(?<=^|\\s)${comments[language]} .*)`,
    `(?<number>\\b\\d+(?:\\.\\d+)?\\b)`,
    `(?<word>(?:(?<=\\s)-{1,2}[A-Za-z-]+(?=\\s))|\\b(?:${words[language]})\\b)`,
  ]
  const tokens: Token[] = []
  let at = 0
  for (const { 0: text, index, groups } of code.matchAll(new RegExp(parts.join('|'), 'gm'))) {
    if (index > at) tokens.push({ kind: undefined, text: code.slice(at, index) })
    const kind = Object.entries(groups!).find(([, found]) => found !== undefined)![0] as Token['kind']
    tokens.push({ kind, text })
    at = index + text.length
  }
  return at < code.length ? [...tokens, { kind: undefined, text: code.slice(at) }] : tokens
}
