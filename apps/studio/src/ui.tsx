import { useState } from 'preact/hooks'

/** Copies text, and confirms it in place without moving anything. */
export function CopyButton({ label, name, text }: { label: string; name: string; text: string | (() => string) }) {
  const [done, setDone] = useState(false)
  const copy = async () => {
    const value = typeof text === 'string' ? text : text()
    try {
      await navigator.clipboard.writeText(value)
    } catch {
      // Without permission or https the clipboard API fails, so use the old `execCommand`.
      const area = document.createElement('textarea')
      area.value = value
      document.body.append(area)
      area.select()
      document.execCommand('copy')
      area.remove()
    }
    setDone(true)
    setTimeout(() => setDone(false), 1200)
  }
  return (
    <button type="button" class="quiet copy" aria-label={name} onClick={copy} data-copied={done}>
      {done ? 'copied' : label}
    </button>
  )
}

interface NumberFieldProps {
  label: string
  text?: string
  value: number
  min: number
  max: number
  onChange: (value: number) => void
}

export function NumberField({ label, text = '', value, min, max, onChange }: NumberFieldProps) {
  return (
    <label class="inline">
      {text === '' ? null : <span aria-hidden="true">{text}</span>}
      <input
        type="number"
        aria-label={label}
        value={value}
        min={min}
        max={max}
        onInput={event => {
          const typed = event.currentTarget.valueAsNumber
          if (Number.isInteger(typed) && typed >= min && typed <= max) onChange(typed)
        }}
      />
    </label>
  )
}
