import type { Socket } from 'node:net'
import type { Desk, Finish } from './command.ts'
import { carryOut, commandOf, isHttp } from './commands.ts'
import { Parser } from './parser.ts'
import { ProtocolError } from './protocol-error.ts'
import type { Session } from './session.ts'

/** Replies are written, at the latest, when there are so many bytes of them. */
const FLUSH_BYTES = 64 * 1024
/** So many commands may wait for a store; then no more are read. */
const MOST_WAITING = 1024

/** A reply that waits for its turn: for those before it, or for its own answer, which is undefined until then. */
interface Turn {
  write: Finish | undefined
}

/**
 * One connection: bytes in, commands carried out one after the other, replies out in the same order and in one write for
 * each chunk of input. A client that does not read what it is sent is not read from either.
 */
export class Connection {
  private readonly socket: Socket
  private readonly desk: Desk
  private readonly session: Session
  private readonly parser: Parser
  private readonly waiting: Turn[] = []
  private isDelivering = false
  /** A command that must not overtake, or be overtaken by, those beside it. */
  private isHeld = false
  /** The socket has more than it can send. */
  private isBlocked = false
  private isPaused = false
  /** Nothing more comes in: when all is answered, it is over. */
  private isClosing = false
  /** Nothing more is carried out, whatever comes in. */
  private isLeaving = false
  private progress = 0

  constructor(socket: Socket, desk: Desk, session: Session) {
    this.socket = socket
    this.desk = desk
    this.session = session
    this.parser = new Parser(desk.words)
    socket.on('data', chunk => {
      this.parser.feed(chunk)
      this.run()
    })
    socket.on('drain', () => {
      this.isBlocked = false
      this.progress++
      this.run()
    })
    socket.on('end', () => this.close())
    socket.on('error', () => {}) // 'close' follows, and there is nobody left to tell
  }

  /** Answers what was read, then ends. */
  close(): void {
    this.isClosing = true
    this.run()
  }

  destroy(): void {
    this.socket.destroy()
  }

  /** Changes whenever something was done for the client. */
  get mark(): number {
    return this.progress
  }

  /** Waits for the client: for the rest of a command, to read what it was sent, or to close its side. */
  get isStuck(): boolean {
    return this.isBlocked || this.isLeaving || (this.keptBytes > 0 && this.mayGoOn)
  }

  /** Of what came in and was not carried out. */
  get keptBytes(): number {
    return this.parser.restBytes
  }

  private get mayGoOn(): boolean {
    return !(this.isHeld || this.isBlocked || this.isLeaving) && this.waiting.length < MOST_WAITING
  }

  private run(): void {
    let isDry = false
    try {
      while (this.mayGoOn && !isDry) {
        isDry = !this.parser.next()
        if (!isDry) this.step()
      }
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
      this.complain(error)
    }
    this.flush()
    if (this.isClosing && isDry) this.isLeaving = true
    if (this.isLeaving) this.parser.clear()
    if (this.isLeaving && this.waiting.length === 0) this.socket.end()
    this.pauseOrResume()
  }

  private step(): void {
    const { desk, waiting } = this
    const { words, reply } = desk
    const command = commandOf(words)
    if (command === undefined && isHttp(words)) {
      desk.stats.protocolErrors++
      this.isLeaving = true
      return
    }
    const isOrdered = command?.isOrdered?.(words) === true
    if (isOrdered && waiting.length > 0) {
      this.parser.back()
      this.isHeld = true
      return
    }
    this.progress++
    const size = reply.size
    const later = carryOut(command, desk, this.session)
    if (later !== undefined) {
      this.isHeld = isOrdered
      this.wait(later)
    } else if (waiting.length > 0) {
      const bytes = reply.takeSince(size)
      waiting.push({ write: slow => slow.bytes(bytes) })
    }
    if (this.session.hasQuit) this.isLeaving = true
    if (reply.size >= FLUSH_BYTES) this.flush()
  }

  /** Where the next command starts, nobody knows: it is the last thing this client is told. */
  private complain(error: ProtocolError): void {
    const { reply, stats } = this.desk
    stats.protocolErrors++
    this.isLeaving = true
    const message = `ERR ${error.message}`
    if (this.waiting.length > 0) this.waiting.push({ write: slow => slow.error(message) })
    else reply.error(message)
  }

  private wait(later: Promise<Finish>): void {
    const turn: Turn = { write: undefined }
    this.waiting.push(turn)
    void later.then(write => {
      turn.write = write
      // Answers often come together: when all of them are there, they go out together.
      if (this.isDelivering || this.waiting[0]?.write === undefined) return
      this.isDelivering = true
      process.nextTick(() => this.deliver())
    })
  }

  private deliver(): void {
    const { waiting, desk } = this
    this.isDelivering = false
    let count = 0
    while (count < waiting.length && waiting[count]!.write !== undefined) waiting[count++]!.write!(desk.reply)
    waiting.splice(0, count)
    if (waiting.length === 0) this.isHeld = false
    this.run()
  }

  private flush(): void {
    const { reply } = this.desk
    if (reply.size === 0) return
    const bytes = reply.take()
    if (!this.socket.writable) return
    if (!this.socket.write(bytes)) this.isBlocked = true
    this.progress++
  }

  /** Who leaves is read from, too: only so is its own end seen. */
  private pauseOrResume(): void {
    const isPaused = !(this.mayGoOn || this.isLeaving)
    if (isPaused === this.isPaused) return
    this.isPaused = isPaused
    if (isPaused) this.socket.pause()
    else this.socket.resume()
  }
}
