import type { Socket } from 'node:net'
import type { CommandContext } from './commands/command.ts'
import { carryOut, commandOf, isHttp } from './commands/commands.ts'
import { Parser } from './parser.ts'
import { ProtocolError } from './protocol-error.ts'
import { ReplyOrder } from './reply-order.ts'
import type { Session } from './session.ts'

/** Replies are written at the latest when they reach this many bytes. */
const FLUSH_BYTES = 64 * 1024
/** How many commands may wait for a store before the connection stops reading. */
const MOST_WAITING = 1024

/**
 * One connection. It carries commands out one after the other and sends the replies in the same order, in one write for
 * each chunk of input. It stops reading from a client that does not read its replies.
 */
export class RespConnection {
  private readonly socket: Socket
  private readonly context: CommandContext
  private readonly session: Session
  private readonly parser: Parser
  private readonly turns = new ReplyOrder(() => this.deliver())
  /** True while an ordered command runs or waits: commands before it must finish first, and later ones must wait. */
  private isHeld = false
  /** True while the socket has more than it can send. */
  private isBlocked = false
  private isPaused = false
  /** The client sends no more: when all is answered, the connection ends. */
  private isClosing = false
  /** The connection ends once `progress` is greater than this and every reply is sent. */
  private endsBeyond = Infinity
  /** No more commands are carried out, whatever arrives. */
  private isLeaving = false
  private progress = 0

  constructor(socket: Socket, context: CommandContext, session: Session) {
    this.socket = socket
    this.context = context
    this.session = session
    this.parser = new Parser(context.words)
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
    socket.on('error', () => {}) // 'close' follows and ends the connection
  }

  /** Answers the commands that were read, then ends. */
  close(): void {
    this.isClosing = true
    this.run()
  }

  /** Ends the connection after its next replies. Commands that arrive until then are answered. */
  closeAfterReply(): void {
    this.endsBeyond = this.turns.count > 0 ? this.progress - 1 : this.progress
  }

  destroy(): void {
    this.socket.destroy()
  }

  /** Changes whenever replies were sent. Stays 0 for a client that has not sent the password. */
  get mark(): number {
    return this.session.isAuthenticated ? this.progress : 0
  }

  /** Whether the client must act next: send its password or the rest of a command, read replies, or close its side. */
  get isStuck(): boolean {
    return !this.session.isAuthenticated || this.isBlocked || this.isLeaving || (this.keptBytes > 0 && this.mayGoOn)
  }

  /** The number of bytes that arrived but are not carried out yet. */
  get keptBytes(): number {
    return this.parser.restBytes
  }

  private get mayGoOn(): boolean {
    return !(this.isHeld || this.isBlocked || this.isLeaving) && this.turns.count < MOST_WAITING
  }

  private deliver(): void {
    this.turns.write(this.context.reply)
    if (this.turns.count === 0) this.isHeld = false
    this.run()
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
    const isDone = isDry && this.turns.count === 0 && this.keptBytes === 0 && this.progress > this.endsBeyond
    if ((this.isClosing && isDry) || isDone) this.isLeaving = true
    if (this.isLeaving) this.parser.clear()
    if (this.isLeaving && this.turns.count === 0) this.socket.end()
    this.pauseOrResume()
  }

  private step(): void {
    const { context, turns } = this
    const { words, reply } = context
    const command = commandOf(words)
    if (command === undefined && isHttp(words)) {
      context.stats.protocolErrors++
      this.isLeaving = true
      return
    }
    const isOrdered = command?.isOrdered?.(words) === true
    if (isOrdered && turns.count > 0) {
      this.parser.back()
      this.isHeld = true
      return
    }
    this.progress++
    const size = reply.size
    const later = carryOut(command, context, this.session)
    if (later !== undefined) {
      this.isHeld = isOrdered
      turns.addLater(later)
    } else if (turns.count > 0) {
      const bytes = reply.takeSince(size)
      turns.add(slow => slow.bytes(bytes))
    }
    if (this.session.hasQuit) this.isLeaving = true
    if (reply.size >= FLUSH_BYTES) this.flush()
  }

  /** Sends the error as the last reply, since it is not known where the next command starts. */
  private complain(error: ProtocolError): void {
    const { reply, stats } = this.context
    stats.protocolErrors++
    this.isLeaving = true
    const message = `ERR ${error.message}`
    if (this.turns.count > 0) this.turns.add(slow => slow.error(message))
    else reply.error(message)
  }

  private flush(): void {
    const { reply } = this.context
    if (reply.size === 0) return
    const bytes = reply.take()
    if (!this.socket.writable) return
    if (!this.socket.write(bytes)) this.isBlocked = true
    this.progress++
  }

  /** A connection that ends must go on reading, since it sees the client's end only that way. */
  private pauseOrResume(): void {
    const isPaused = !(this.mayGoOn || this.isLeaving)
    if (isPaused === this.isPaused) return
    this.isPaused = isPaused
    if (isPaused) this.socket.pause()
    else this.socket.resume()
  }
}
