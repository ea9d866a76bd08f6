import { useState } from 'preact/hooks'
import { addressOfLanes } from '../model/address.ts'
import { ALGORITHMS } from '../model/policies.ts'
import { CopyButton } from '../ui.tsx'
import { adviceFor, FIRST_ANSWERS, QUESTIONS } from './advice.ts'
import { snippetsFor } from './code.ts'

export default function Choose(_: { rest: string }) {
  const [answers, setAnswers] = useState(FIRST_ANSWERS)
  const [tab, setTab] = useState('')
  const advice = adviceFor(answers)
  const snippets = snippetsFor(advice, answers)
  const shown = snippets.find(({ id }) => id === tab) ?? snippets[0]!
  const address = addressOfLanes([{ kind: advice.kind, fields: advice.fields }])
  return (
    <div class="page">
      <h1>Choose</h1>
      <p class="lead">Six questions, then a policy as code. Change an answer and see what changes with it.</p>
      <div class="questions">
        {QUESTIONS.map(({ id, asks, options }) => (
          <fieldset key={id} class="question">
            <legend>{asks}</legend>
            {options.map(({ value, says }) => (
              <label key={value}>
                <input
                  type="radio"
                  name={id}
                  value={value}
                  checked={answers[id] === value}
                  onChange={() => setAnswers({ ...answers, [id]: value })}
                />
                {says}
              </label>
            ))}
          </fieldset>
        ))}
      </div>
      <h2 data-advice={advice.kind} aria-live="polite">
        {ALGORITHMS[advice.kind].title}, by {advice.attribute === 'apiKey' ? 'API key' : advice.attribute}
      </h2>
      <ul class="why">
        {advice.reasons.map(reason => (
          <li key={reason}>{reason}</li>
        ))}
      </ul>
      <div class="tabs">
        {snippets.map(({ id, title }) => (
          <button
            key={id}
            type="button"
            class="quiet"
            aria-pressed={id === shown.id}
            onClick={() => setTab(id)}
            data-tab={id}
          >
            {title}
          </button>
        ))}
      </div>
      <div class="code">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a keyboard scrolls it */}
        <pre tabIndex={0} data-code>
          {shown.text}
        </pre>
        <CopyButton label="Copy" name={`Copy the code for ${shown.title}`} text={shown.text} />
      </div>
      <p>
        <a href={`#/?${address}`} data-try>
          Try it in the simulator
        </a>
      </p>
    </div>
  )
}
