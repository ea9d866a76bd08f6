import { expect, test } from 'vitest'
import { Words } from './commands/words.ts'
import { splitLine } from './inline.ts'

function split(line: string): string[] {
  const words = new Words()
  splitLine(Buffer.from(line, 'latin1'), words)
  return Array.from({ length: words.count }, (_, word) => words.text(word))
}

test.each([
  ['', []],
  ['   \t', []],
  ['a', ['a']],
  ['  a\tb  c ', ['a', 'b', 'c']],
  ['"a b" c', ['a b', 'c']],
  ["'a b' c", ['a b', 'c']],
  ['""', ['']],
  ['\'\' ""', ['', '']],
  ['a"b c"', ['ab c']],
  ['"\\n\\r\\t\\b\\a\\\\\\"\\q"', ['\n\r\t\b\x07\\"q']],
  ['"\\x41\\xff\\xFF"', ['A\xff\xff']],
  ['"\\x4"', ['x4']],
  ["'it\\'s \\n'", ["it's \\n"]],
  ['\xff\x80', ['\xff\x80']],
])('%j is %j', (line, words) => {
  expect(split(line)).toEqual(words)
})

test.each(['"', "'", '"a', "a 'b", '"a"b', "'a'b", '"a\\"', '"a\\'])('the quotes of %j are unbalanced', line => {
  expect(() => split(line)).toThrow('Protocol error: unbalanced quotes in request')
})
