import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { commandsOf } from '../fixtures/resp/commands-of.ts'
import { frame } from '../fixtures/resp/context.ts'
import { Words } from './commands/words.ts'
import { Parser } from './parser.ts'
import { ProtocolError } from './protocol-error.ts'

const long = 'x'.repeat(64 * 1024)

const good: [bytes: string, commands: string[][]][] = [
  ['', []],
  ['*1\r\n$4\r\nPING\r\n', [['PING']]],
  ['*2\r\n$4\r\nECHO\r\n$0\r\n\r\n', [['ECHO', '']]],
  ['*2\r\n$4\r\nECHO\r\n$4\r\na\r\nb\r\n', [['ECHO', 'a\r\nb']]],
  ['*1\r\n$4\r\nPING\r\n*1\r\n$4\r\nPONG\r\n', [['PING'], ['PONG']]],
  ['*0\r\n*-1\r\n*-5\r\n*1\r\n$1\r\na\r\n', [['a']]],
  ['PING\r\n', [['PING']]],
  ['PING\n  a  b\t"c d"\n', [['PING'], ['a', 'b', 'c d']]],
  ['\r\n\n  \r\nPING\r\n*1\r\n$1\r\na\r\nb\r\n', [['PING'], ['a'], ['b']]],
  ['$1\r\n', [['$1']]],
  ['*2\r\n$3\r\nkey\r\n$3\r\n\xff\x00\x80\r\n', [['key', '\xff\x00\x80']]],
  [`*2\r\n$1\r\na\r\n$65536\r\n${long}\r\n`, [['a', long]]],
  [frame(...Array.from({ length: 64 }, (_, i) => `${i}`)).toString(), [Array.from({ length: 64 }, (_, i) => `${i}`)]],
]

const bad: [bytes: string, complaint: string][] = [
  ['*2147483647\r\n', 'invalid multibulk length'],
  ['*65\r\n', 'invalid multibulk length'],
  ['*-2147483648\r\n', 'invalid multibulk length'],
  ['*99999999999', 'invalid multibulk length'],
  [`*${'1'.repeat(1000)}`, 'invalid multibulk length'],
  ['*x\r\n', 'invalid multibulk length'],
  ['*\r\n', 'invalid multibulk length'],
  ['*1x\r\n', 'invalid multibulk length'],
  ['*1 \r\n', 'invalid multibulk length'],
  ['*01\r\n', 'invalid multibulk length'],
  ['*+1\r\n', 'invalid multibulk length'],
  ['*1\n$1\na\n', 'invalid multibulk length'],
  ['*1\r\r', 'invalid multibulk length'],
  ['*1\r\n*1\r\n$1\r\na\r\n', "expected '$', got '*'"],
  ['*1\r\nPING\r\n', "expected '$', got 'P'"],
  ['*1\r\n\r\n', "expected '$', got ' '"],
  ['*1\r\n:1\r\n', "expected '$', got ':'"],
  ['*1\r\n$2147483647\r\n', 'invalid bulk length'],
  ['*1\r\n$65537\r\n', 'invalid bulk length'],
  ['*1\r\n$-1\r\n', 'invalid bulk length'],
  ['*1\r\n$99999999999', 'invalid bulk length'],
  ['*1\r\n$01\r\na\r\n', 'invalid bulk length'],
  ['*1\r\n$\r\n', 'invalid bulk length'],
  ['*1\r\n$1\r\nab\r\n', 'expected CRLF after bulk'],
  ['*1\r\n$1\r\na\n\r', 'expected CRLF after bulk'],
  [`*3\r\n$65536\r\n${long}\r\n$65536\r\n`, 'too big request'],
  [`${'x'.repeat(5000)}`, 'too big inline request'],
  [`${'x'.repeat(5000)}\r\n`, 'too big inline request'],
  ['a "b\r\n', 'unbalanced quotes in request'],
  [`${'a '.repeat(65)}\r\n`, 'too many words in inline request'],
]

describe('frames', () => {
  test.each(good)('%j', (bytes, commands) => {
    expect(commandsOf(bytes)).toEqual(commands)
  })

  test.each(bad)('%j is a protocol error', (bytes, complaint) => {
    expect(commandsOf(bytes)).toEqual([`Protocol error: ${complaint}`])
  })

  test('commands before a malformed frame are carried out', () => {
    expect(commandsOf('*1\r\n$4\r\nPING\r\n*1\r\nPING\r\n')).toEqual([
      ['PING'],
      "Protocol error: expected '$', got 'P'",
    ])
  })
})

describe('input in any chunks', () => {
  const short = [...good, ...bad].map(([bytes]) => bytes).filter(bytes => bytes.length < 2000)

  test.each(short)('%j means the same wherever it is cut', bytes => {
    const whole = commandsOf(bytes)
    for (let cut = 0; cut <= bytes.length; cut++) {
      expect([cut, ...commandsOf(bytes.slice(0, cut), bytes.slice(cut))]).toEqual([cut, ...whole])
    }
    expect(commandsOf(...bytes)).toEqual(whole)
  })

  test('random commands, cut at random, come out as they went in', () => {
    const word = fc.uint8Array({ maxLength: 40 }).map(bytes => Buffer.from(bytes).toString('latin1'))
    const commands = fc.array(fc.array(word, { minLength: 1, maxLength: 8 }), { maxLength: 8 })
    fc.assert(
      fc.property(commands, fc.array(fc.nat(), { maxLength: 12 }), (all, cuts) => {
        const bytes = Buffer.concat(all.map(args => frame(...args)))
        const places = cuts.map(cut => cut % (bytes.length + 1)).sort((a, b) => a - b)
        const chunks = [0, ...places].map((from, i) => bytes.subarray(from, places[i]))
        expect(commandsOf(...chunks)).toEqual(all)
      }),
      { numRuns: 500 },
    )
  })

  test('random bytes are the same commands or the same error wherever they are cut', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        '*',
        '$',
        '\r\n',
        '\n',
        '1',
        '2',
        '*2\r\n',
        '$1\r\n',
        'a',
        '"',
        ' ',
        '-',
        '\\',
        '*1\r\n$1\r\na\r\n',
      ),
      fc.uint8Array({ maxLength: 3 }).map(bytes => Buffer.from(bytes).toString('latin1')),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), fc.nat(), (pieces, at) => {
        const bytes = pieces.join('')
        const cut = at % (bytes.length + 1)
        expect(commandsOf(bytes.slice(0, cut), bytes.slice(cut))).toEqual(commandsOf(bytes))
      }),
      { numRuns: 2000 },
    )
  })
})

describe('the memory that a connection can take', () => {
  /** How many bytes are taken, one by one, before the complaint. */
  function taken(bytes: Buffer): number {
    const parser = new Parser(new Words())
    for (let count = 0; count < bytes.length; count++) {
      parser.feed(bytes.subarray(count, count + 1))
      try {
        parser.next()
      } catch (error) {
        expect(error).toBeInstanceOf(ProtocolError)
        return count
      }
    }
    throw new Error('no complaint')
  }

  test.each([
    ['an array of two thousand million', '*2147483647\r\n', 12],
    ['a word of two thousand million', '*1\r\n$2147483647\r\n', 16],
    ['a line without an end', 'x'.repeat(100_000), 4096],
    ['a length without an end', `*${'1'.repeat(100_000)}`, 11],
    ['words of 64 KiB without an end', `*64\r\n${`$65536\r\n${long}\r\n`.repeat(3)}`, 65_560],
  ])('%s is refused after few bytes', (_, bytes, most) => {
    expect(taken(Buffer.from(bytes))).toBeLessThanOrEqual(most)
  })
})
