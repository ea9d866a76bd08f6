type Series = readonly (readonly [series: string, value: number])[]

/** One metric in the text format of Prometheus: its description and its series. */
export function metric(name: string, type: string, help: string, series: Series): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...series.map(([one, value]) => `${one} ${value}`)]
}

export function labels(pairs: Readonly<Record<string, string>>): string {
  return `{${Object.entries(pairs)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(',')}}`
}

function escaped(value: string): string {
  return value.replace(/[\\"\n]/g, character => (character === '\n' ? '\\n' : `\\${character}`))
}
