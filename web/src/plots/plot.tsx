// Lines over time, with a tooltip that names the moment under the pointer. The legend and a sentence say what the picture
// shows.
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
  /** What the page is about: a line of this name alone needs no legend. */
  subject?: string
}

/** Where the pointer is: the index of the moment, and its place if the pointer is on this plot. */
type Pointed = { index: number; left: number | undefined; width: number }

const height = 150
const narrowPx = 480
const colours = 8

export function Plot({ title, unit, at, lines, subject }: Props) {
  const host = useRef<HTMLDivElement>(null)
  const plot = useRef<UPlot | undefined>(undefined)
  const pointed = useSignal<Pointed | undefined>(undefined)
  const dark = useSignal(isDark())
  useSignalEffect(() => {
    dark.value = isDark()
  })
  const names = lines.map(({ label }) => label).join('\n')

  // The colours are of the theme, and the lines are known by their names.
  useEffect(() => {
    const made = makePlot(host.current!, names === '' ? [] : names.split('\n'), next => {
      pointed.value = next
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

  const place = pointed.value
  const index = place?.index ?? at.length - 1
  const moment = at[index]
  const isEmpty = lines.every(({ values }) => values.every(value => value === null))
  const alone = lines.length === 1 && lines[0]!.label === subject ? lines[0] : undefined
  return (
    <figure class="plot">
      <figcaption>
        {title} {alone !== undefined && valueText(alone.values[index])} <small>{unit}</small>
        {place !== undefined && moment !== undefined && <small class="plot-moment">{timeText(moment)}</small>}
      </figcaption>
      <div class="plot-area">
        <div ref={host} class="plot-canvas" role="img" aria-label={plotText(title, unit, lines)} />
        {isEmpty ? <p class="plot-empty">{at.length > 0 && 'Nothing yet'}</p> : <small class="plot-zone">UTC</small>}
        {place?.left !== undefined && moment !== undefined && (
          <Tooltip place={{ ...place, left: place.left }} moment={moment} lines={lines} unit={unit} />
        )}
      </div>
      {alone === undefined && (
        <ul class="legend">
          {lines.map(({ label, values }, line) => (
            <li key={label}>
              <i class={`line-swatch line-${line % colours}`} />
              {label} <b>{valueText(values[index])}</b>
            </li>
          ))}
        </ul>
      )}
    </figure>
  )
}

type TooltipProps = Pick<Props, 'lines' | 'unit'> & { place: Pointed & { left: number }; moment: number }

/** On the side that has more room; on a narrow plot at its edge, where the names of lines would not fit beside the pointer. */
function Tooltip({ place: { index, left, width }, moment, lines, unit }: TooltipProps) {
  const isRight = left > width / 2
  const beside = isRight ? { right: `${width - left + 12}px` } : { left: `${left + 12}px` }
  const atEdge = isRight ? { left: '0' } : { right: '0' }
  const side = width < narrowPx ? atEdge : beside
  return (
    <div class="plot-tooltip" style={side} aria-hidden="true">
      <b>{timeText(moment)}</b>
      {lines.map(({ label, values }, line) => (
        <span key={label}>
          <i class={`line-swatch line-${line % colours}`} />
          {label} <b>{valueText(values[index])}</b>
        </span>
      ))}
      <small>{unit}</small>
    </div>
  )
}

/** In UTC, as every other time of the console. */
function timeText(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(11, 19)
}

function valueText(value: number | null | undefined): string {
  return value === null || value === undefined ? '–' : rateText(value)
}

function plotText(title: string, unit: string, lines: readonly PlotLine[]): string {
  const facts = lines.map(({ label, values }) => {
    const known = values.filter(value => value !== null)
    if (known.length === 0) return `${label}: nothing yet`
    return `${label}: now ${valueText(values.at(-1))}, at most ${valueText(Math.max(...known))}`
  })
  return `${title}, ${unit}. ${facts.length === 0 ? 'Nothing yet' : facts.join('; ')}.`
}

/** Fine enough that five minutes have several labels on a narrow plot, too. */
const timeSteps = [1, 5, 10, 15, 30, 60, 120, 180, 300, 600, 900, 1_800, 3_600]

function timeLabels(splits: readonly number[], stepSeconds: number): string[] {
  return splits.map(split => timeText(split * 1_000).slice(0, stepSeconds < 60 ? 8 : 5))
}

/** A value between gaps has no line that would show it. */
function loneOf({ data }: UPlot, line: number): number[] {
  const values = data[line] ?? []
  return Array.from(values, (value, at) =>
    value != null && values[at - 1] == null && values[at + 1] == null ? at : -1,
  ).filter(at => at >= 0)
}

/** Each is a whole number of the steps that the axis is labelled with. */
const tops = [1, 1.5, 2, 3, 4, 6, 7.5, 10]

function topOf(max: number): number {
  const unit = 10 ** Math.floor(Math.log10(Math.max(1, max)))
  return unit * tops.find(top => top * unit >= max)!
}

function makePlot(host: HTMLElement, labels: readonly string[], onPoint: (place: Pointed | undefined) => void): UPlot {
  const style = getComputedStyle(host)
  const colour = (name: string) => style.getPropertyValue(name)
  const axis = {
    stroke: colour('--ink-soft'),
    font: `11px ${colour('--sans')}`,
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
  }
  return new UPlot(
    {
      width: Math.max(100, Math.floor(host.clientWidth)),
      height,
      padding: [8, 24, 0, 0],
      legend: { show: false },
      cursor: { y: false, points: { size: 6 }, sync: { key: 'past' } },
      scales: { y: { range: (_, __, max) => [0, topOf(max)] } },
      axes: [
        {
          ...axis,
          size: 24,
          grid: { show: false },
          space: 56,
          incrs: timeSteps,
          values: (_, splits, __, ___, step) => timeLabels(splits, step),
        },
        { ...axis, size: 44, values: (_, splits) => splits.map(split => rateText(split)) },
      ],
      series: [
        {},
        ...labels.map((label, line) => ({
          label,
          stroke: colour(`--line-${line % colours}`),
          width: 1.5,
          points: { show: false, filter: loneOf, size: 5, fill: colour(`--line-${line % colours}`) },
        })),
      ],
      hooks: { setCursor: [self => onPoint(placeOf(self))] },
    },
    [[]],
    host,
  )
}

/** Plots point together; the tooltip is on the one that has the pointer. */
function placeOf({ cursor, over, width }: UPlot): Pointed | undefined {
  if (cursor.idx == null) return undefined
  const isHere = over.matches(':hover')
  return { index: cursor.idx, left: isHere ? (cursor.left ?? 0) + over.offsetLeft : undefined, width }
}
