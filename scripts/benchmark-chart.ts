// Draws the benchmark beside peers as an SVG that follows the colours of its reader's system. Every number comes from
// `bench/measured.json`.
import { readFileSync } from 'node:fs'

type Line = { name: string; blocks: number; seconds: number }
type Measured = { machine: string; groups: { title: string; command: string; lines: Line[] }[] }

const width = 760
const nameWidth = 170
const barWidth = 480
const lineHeight = 26
const colours = `
  text { font: 13px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #23272f }
  .soft { fill: #5c6470; font-size: 12px }
  .title { font-weight: 600 }
  .ours { fill: #17635c }
  .peer { fill: #b9c0c9 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6e9ee }
    .soft { fill: #9aa3b0 }
    .ours { fill: #76c7bd }
    .peer { fill: #4a5260 }
  }`

export function benchmarkChart(): string {
  const measured = JSON.parse(readFileSync(new URL('../bench/measured.json', import.meta.url), 'utf8')) as Measured
  const shapes: string[] = []
  let y = 22
  for (const { title, lines } of measured.groups) {
    shapes.push(`<text class="title" x="0" y="${y}">${title}</text>`)
    y += 14
    const fastest = Math.max(...lines.map(rateOf))
    for (const line of lines) {
      const length = Math.max(2, Math.round((rateOf(line) / fastest) * barWidth))
      const kind = line.name.startsWith('Almanac') ? 'ours' : 'peer'
      shapes.push(
        `<text x="0" y="${y + 15}">${line.name}</text>`,
        `<rect class="${kind}" x="${nameWidth}" y="${y + 2}" width="${length}" height="18" rx="3"/>`,
        `<text x="${nameWidth + length + 8}" y="${y + 15}">${rateText(rateOf(line))}</text>`,
      )
      y += lineHeight
    }
    y += 24
  }
  shapes.push(
    `<text class="soft" x="0" y="${y}">Blocks indexed a second, longer is better. ${measured.machine}.</text>`,
    `<text class="soft" x="0" y="${y + 17}">Almanac proves every block by its receipts root and keeps wallets; the others do neither.</text>`,
  )
  const spoken = measured.groups
    .map(({ title, lines }) => `${title}: ${lines.map(line => `${line.name} ${rateText(rateOf(line))}`).join(', ')}`)
    .join('. ')
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y + 26}" role="img" aria-label="${spoken}">
<style>${colours}
</style>
${shapes.join('\n')}
</svg>
`
}

function rateOf({ blocks, seconds }: Line): number {
  return blocks / seconds
}

function rateText(rate: number): string {
  return `${Math.round(rate).toLocaleString('en-US')} blocks/s`
}
