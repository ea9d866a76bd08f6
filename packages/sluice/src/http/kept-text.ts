import { resetParameter } from './headers/draft-11.ts'

/** In place of seconds where there is no time to tell: a number like all others, so that comparing it is quick. */
export const NO_TIME = -1

const THOUSAND = 1000
/** `0` to `999`, and `000` to `999`. */
const NUMBERS = Array.from({ length: THOUSAND }, (_, number) => `${number}`)
const LAST_DIGITS = NUMBERS.map(digits => digits.padStart(3, '0'))

/**
 * The text of `RateLimit`, item after item: `"a";r=8999;t=5, "b";r=12;t=60`. From one request to the next little of it
 * changes but the last digits of the counts, so what stands between those is kept in one piece until it does.
 *
 * The last digits come from a table. The engine would write numbers as quickly, but it keeps each with its text for the
 * next time, which never comes for a count going down, and the garbage collector carries them along meanwhile.
 */
export class KeptText {
  private readonly items: readonly KeptItem[]
  /** What stands behind the last digits of the last item. */
  private end = ''

  /** `heads` are what stands before the count of each item. */
  constructor(heads: readonly string[]) {
    this.items = heads.map((head, i) => new KeptItem(i === 0 ? head : `, ${head}`))
  }

  /** `text` ends with the last digits of the item before this one; what is returned, with those of this one. */
  withItem(text: string, index: number, count: number, seconds: number): string {
    const item = this.items[index]!
    let last = count - item.thousands
    if (last < 0 || last >= THOUSAND) {
      item.moveTo(count)
      last = count - item.thousands
    }
    if (seconds !== item.seconds) {
      item.seconds = seconds
      const next = this.items[index + 1]
      if (next === undefined) this.end = timeOf(seconds)
      else next.follow(timeOf(seconds))
    }
    return text + item.before + item.digits[last]!
  }

  /** The whole text, once all items are there. */
  whole(text: string): string {
    return inOnePiece(text + this.end)
  }
}

/** One item as it was last written. */
class KeptItem {
  /** The count without its last three digits: `8000` of `8999`. */
  thousands = 0
  digits: readonly string[] = NUMBERS
  seconds = NO_TIME
  /** All that stands before the last digits: the seconds of the item before, and what comes first of this one. */
  before: string
  private readonly head: string
  private endBefore = ''

  constructor(head: string) {
    this.head = head
    this.before = head
  }

  moveTo(count: number): void {
    this.thousands = count - (count % THOUSAND)
    this.digits = this.thousands === 0 ? NUMBERS : LAST_DIGITS
    this.follow(this.endBefore)
  }

  follow(endBefore: string): void {
    this.endBefore = endBefore
    this.before = inOnePiece(endBefore + this.head + (this.thousands === 0 ? '' : this.thousands / THOUSAND))
  }
}

function timeOf(seconds: number): string {
  return seconds === NO_TIME ? '' : resetParameter(seconds)
}

/**
 * A text put together is kept in its pieces until somebody reads into it. Node tests every value of a header with a regular
 * expression, which takes a long way round through pieces; one character read before makes one text of them.
 */
function inOnePiece(text: string): string {
  return text.charCodeAt(0) === 0 ? '' : text
}
