import { useEffect, useRef } from 'preact/hooks'
import UPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { inkOf } from '../simulator/ink.ts'
import type { Chart } from './scene.ts'

const DASHES = { served: [], refused: [6, 4], other: [2, 3] }

export function LineChart({ chart }: { chart: Chart }) {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const ink = inkOf()
    const axis = { stroke: ink.faint, grid: { stroke: ink.well }, ticks: { stroke: ink.well } }
    const size = () => ({ width: place.current!.clientWidth, height: 220 })
    const plot = new UPlot(
      {
        ...size(),
        legend: { show: false },
        scales: { x: { time: false } },
        axes: [{ ...axis, values: (_, seconds) => seconds.map(second => `${second} s`) }, axis],
        series: [
          {},
          ...chart.series.map(({ label, mark }) => ({
            label,
            stroke: mark === 'other' ? ink.faint : ink[mark],
            width: 2,
            // A dash pattern, so that the lines also differ without colour.
            dash: DASHES[mark],
          })),
        ],
      },
      [[...chart.xs], ...chart.series.map(({ ys }) => [...ys])],
      place.current!,
    )
    const resized = () => plot.setSize(size())
    window.addEventListener('resize', resized)
    return () => {
      window.removeEventListener('resize', resized)
      plot.destroy()
    }
  }, [chart])
  const told = chart.series.map(({ label, ys }) => `${label}: at most ${Math.max(...ys)}`).join('; ')
  return (
    <figure class="chart">
      <figcaption class="legend">
        {chart.title}
        {chart.series.map(({ label, mark }) => (
          <span key={label} class={mark}>
            {label}
          </span>
        ))}
      </figcaption>
      <div ref={place} role="img" aria-label={`${chart.title}. ${told}.`} />
    </figure>
  )
}
