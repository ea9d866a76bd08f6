/** The colours of the theme, as a canvas needs them. */
export interface Ink {
  readonly served: string
  readonly refused: string
  readonly water: string
  readonly text: string
  readonly faint: string
  readonly line: string
  readonly well: string
  readonly paper: string
}

let known: Ink | undefined

export function inkOf(): Ink {
  if (known !== undefined) return known
  const style = getComputedStyle(document.documentElement)
  const color = (name: string) => style.getPropertyValue(`--${name}`).trim()
  known = {
    served: color('served'),
    refused: color('refused'),
    water: color('water'),
    text: color('text'),
    faint: color('faint'),
    line: color('line'),
    well: color('well'),
    paper: color('paper'),
  }
  return known
}

/** Reads the colours again after the theme has changed. */
export function forgetInk(): void {
  known = undefined
}

/** A context whose unit is one CSS pixel, cleared; undefined while the canvas has no size. */
export function freshContext(canvas: HTMLCanvasElement): CanvasRenderingContext2D | undefined {
  const { clientWidth: width, clientHeight: height } = canvas
  if (width === 0 || height === 0) return undefined
  const scale = window.devicePixelRatio
  const w = Math.round(width * scale)
  const h = Math.round(height * scale)
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w
    canvas.height = h
  }
  const g = canvas.getContext('2d')!
  g.setTransform(scale, 0, 0, scale, 0, 0)
  g.clearRect(0, 0, width, height)
  g.font = '11px ui-monospace, monospace'
  return g
}
