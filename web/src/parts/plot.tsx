// Lines over time, with the value under the pointer in the legend. The legend and a sentence say what the picture shows.
import { useSignal, useSignalEffect } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import UPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { rateText } from '../quantities.ts'
import { isDark } from '../state/theme.ts'

export type PlotLine = { label: string; values: readonly (number | null)[] }

type Props = {
  title: string
  unit: string
  /** Unix milliseconds. */
  at: readonly number[]
  lines: readonly PlotLine[]
}

const height = 150
const colours = 8

export function Plot({ title, unit, at, lines }: Props) {
  const host = useRef<HTMLDivElement>(null)
  const plot = useRef<UPlot | undefined>(undefined)
  const pointed = useSignal<number | null>(null)
  const dark = useSignal(isDark())
  useSignalEffect(() => {
    dark.value = isDark()
  })
  const names = lines.map(({ label }) => label).join('\n')

  // The colours are of the theme, and the lines are known by their names.
  useEffect(() => {
    const made = makePlot(host.current!, names === '' ? [] : names.split('\n'), index => {
      pointed.value = index
    })
    plot.current = made
    const resized = new ResizeObserver(([entry]) =>
      made.setSize({ width: Math.floor(entry!.contentRect.width), height }),
    )
    resized.observe(host.current!)
    return () => {
      resized.disconnect()
      made.destroy()
      plot.current = undefined
    }
  }, [names, dark.value])

  // A plot that was made anew needs its values again.
  useEffect(() => {
    plot.current?.setData([at.map(moment => moment / 1_000), ...lines.map(({ values }) => [...values])])
  }, [at, lines, names, dark.value])

  const index = pointed.value ?? at.length - 1
  return (
    <figure class="plot">
      <figcaption>
        {title} <small>{unit}</small>
      </figcaption>
      <div ref={host} class="plot-canvas" role="img" aria-label={plotText(title, unit, lines)} />
      <ul class="legend">
        {lines.map(({ label, values }, line) => (
          <li key={label}>
            <i class={`line-swatch line-${line % colours}`} />
            {label} <b>{valueText(values[index])}</b>
          </li>
        ))}
      </ul>
    </figure>
  )
}

function timeText(seconds: number): string {
  return new Date(seconds * 1_000).toLocaleTimeString('en-GB')
}

function valueText(value: number | null | undefined): string {
  return value === null || value === undefined ? '–' : rateText(value)
}

function plotText(title: string, unit: string, lines: readonly PlotLine[]): string {
  const facts = lines.map(({ label, values }) => {
    const known = values.filter(value => value !== null)
    if (known.length === 0) return `${label}: nothing yet`
    return `${label}: now ${valueText(known.at(-1))}, at most ${valueText(Math.max(...known))}`
  })
  return `${title}, ${unit}. ${facts.length === 0 ? 'Nothing yet' : facts.join('; ')}.`
}

function makePlot(host: HTMLElement, labels: readonly string[], onPoint: (index: number | null) => void): UPlot {
  const style = getComputedStyle(host)
  const colour = (name: string) => style.getPropertyValue(name)
  const axis = {
    stroke: colour('--ink-soft'),
    font: '11px system-ui, sans-serif',
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
  }
  return new UPlot(
    {
      width: Math.max(100, Math.floor(host.clientWidth)),
      height,
      legend: { show: false },
      cursor: { y: false, points: { size: 6 }, sync: { key: 'past' } },
      scales: { y: { range: (_, __, max) => [0, Math.max(1, max * 1.1)] } },
      axes: [
        { ...axis, size: 24, grid: { show: false }, space: 64, values: (_, splits) => splits.map(timeText) },
        { ...axis, size: 44, values: (_, splits) => splits.map(split => rateText(split)) },
      ],
      series: [
        {},
        ...labels.map((label, line) => ({
          label,
          stroke: colour(`--line-${line % colours}`),
          width: 1.5,
          points: { show: false },
        })),
      ],
      hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)] },
    },
    [[]],
    host,
  )
}
