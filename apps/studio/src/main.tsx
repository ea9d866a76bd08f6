import { type ComponentType, render } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { forgetInk } from './simulator/ink.ts'
import { Player } from './simulator/player.ts'
import Simulator from './simulator/simulator.tsx'
import './style.css'

const PAGES = [
  { path: '', title: 'Simulator' },
  { path: 'scenes', title: 'Scenes' },
  { path: 'choose', title: 'Choose' },
  { path: 'try', title: 'Try' },
] as const

/** Loaded when first opened, so that the first visit loads only the simulator. */
const LATER: Readonly<Record<string, () => Promise<{ default: ComponentType<{ rest: string }> }>>> = {
  scenes: () => import('./scenes/page.tsx'),
  choose: () => import('./choose/page.tsx'),
  try: () => import('./try/page.tsx'),
}

interface Place {
  readonly path: string
  readonly rest: string
  readonly address: string
}

/** `#/scenes/boundary-burst` or `#/?tokenBucket=…`: after the hash, so that a plain file server can serve it. */
function placeOf(hash: string): Place {
  const [way = '', address = ''] = hash.replace(/^#\/?/, '').split('?')
  const [path = '', ...rest] = way.split('/')
  return { path: PAGES.some(page => page.path === path) ? path : '', rest: rest.join('/'), address }
}

// The service prints the token at its start in the hash of an address, which browsers never send. Keep it for this tab.
const [, token] = /^#token=(.+)$/.exec(location.hash) ?? []
if (token !== undefined) {
  sessionStorage.setItem('token', token)
  history.replaceState(null, '', `${location.pathname}#/`)
}

const player = new Player(placeOf(location.hash).address)
keepInAddress(player)
if (placeOf(location.hash).address === '' && !matchMedia('(prefers-reduced-motion: reduce)').matches) player.play()

const saved = localStorage.getItem('theme')
if (saved !== null) document.documentElement.dataset.theme = saved

function App() {
  const [place, setPlace] = useState(placeOf(location.hash))
  const [help, setHelp] = useState(false)
  useEffect(() => {
    const went = () => {
      const next = placeOf(location.hash)
      if (next.path === '' && next.address !== '') player.open(next.address)
      if (next.path !== '') player.pause()
      setPlace(next)
    }
    window.addEventListener('hashchange', went)
    return () => window.removeEventListener('hashchange', went)
  }, [])
  useKeys(
    place.path === '',
    () => setHelp(shown => !shown),
    () => setHelp(false),
  )
  const turn = () => {
    const root = document.documentElement
    const isDark =
      root.dataset.theme === 'dark' ||
      (root.dataset.theme === undefined && matchMedia('(prefers-color-scheme: dark)').matches)
    root.dataset.theme = isDark ? 'light' : 'dark'
    localStorage.setItem('theme', root.dataset.theme)
    forgetInk()
    player.draw()
  }
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to the content
      </button>
      <header class="top">
        <a class="brand" href="#/">
          <img src="./icon.svg" alt="" width="28" height="28" />
          Sluice Studio
        </a>
        <nav aria-label="Pages">
          {PAGES.map(page => (
            <a key={page.path} href={`#/${page.path}`} aria-current={page.path === place.path ? 'page' : undefined}>
              {page.title}
            </a>
          ))}
        </nav>
        <div class="row">
          <button type="button" class="quiet" onClick={turn} data-do="theme">
            Theme
          </button>
          <button type="button" class="quiet" onClick={() => setHelp(true)} data-do="help">
            Keys
          </button>
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        {place.path === '' ? (
          <Simulator player={player} />
        ) : (
          <Later key={place.path} path={place.path} rest={place.rest} />
        )}
      </main>
      {help ? <Help close={() => setHelp(false)} /> : null}
    </>
  )
}

const ADDRESS_AFTER_MS = 300

/**
 * Puts the simulation into the address bar, so that reloading or sharing gives the same one. An untouched page keeps
 * its plain address.
 */
function keepInAddress(player: Player): void {
  let due: number | undefined
  const write = () => {
    const touched = player.history.past.length > 0 || placeOf(location.hash).address !== ''
    if (player.playing || !touched || placeOf(location.hash).path !== '') return
    const hash = `#/?${player.address()}`
    if (location.hash !== hash) history.replaceState(null, '', hash)
  }
  player.onWords(() => {
    clearTimeout(due)
    due = window.setTimeout(write, ADDRESS_AFTER_MS)
  })
}

function Later({ path, rest }: { path: string; rest: string }) {
  const [Page, setPage] = useState<ComponentType<{ rest: string }>>()
  useEffect(() => {
    void LATER[path]!().then(loaded => setPage(() => loaded.default))
  }, [path])
  return Page === undefined ? <p class="faint">Loading…</p> : <Page rest={rest} />
}

const KEYS: readonly (readonly [string, string])[] = [
  ['B', 'send a burst of 12'],
  ['A', 'advance time by 5 s'],
  ['Space', 'play or pause'],
  ['S', 'step to the next request'],
  ['Z', 'undo'],
  ['Shift Z', 'redo'],
  ['?', 'this help'],
]

function useKeys(active: boolean, help: () => void, close: () => void): void {
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement
      if (event.key === 'Escape') return close()
      if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) return
      if (event.key === '?') return help()
      if (!active) return
      const key = event.key.toLowerCase()
      if (key === 'b') player.burst(12)
      else if (key === 'a') player.advance(5000)
      else if (key === 's') player.step()
      else if (key === 'z' && event.shiftKey) player.redo()
      else if (key === 'z') player.undo()
      else if (key === ' ' && target.tagName !== 'BUTTON' && target.tagName !== 'SUMMARY') {
        event.preventDefault()
        if (player.playing) player.pause()
        else player.play()
      }
    }
    window.addEventListener('keydown', pressed)
    return () => window.removeEventListener('keydown', pressed)
  })
}

function Help({ close }: { close: () => void }) {
  return (
    <dialog
      class="help"
      aria-label="Keys"
      ref={dialog => {
        if (dialog !== null && !dialog.open) dialog.showModal()
      }}
      onClose={close}
    >
      <h2>Keys</h2>
      <dl>
        {KEYS.map(([key, says]) => (
          <div key={key} class="help-key">
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{says}</dd>
          </div>
        ))}
      </dl>
      <button type="button" onClick={close}>
        Close
      </button>
    </dialog>
  )
}

render(<App />, document.getElementById('app')!)
document.documentElement.dataset.ready = 'true'
