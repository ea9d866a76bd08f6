/** Writes one line per event. No line contains a key. */
export interface Log {
  info(message: string, details?: object): void
  warn(message: string, details?: object): void
}

type LogLevel = keyof Log

/** `text` is `time level message {"detail":…}`; `json` is one object per line. */
export function consoleLog(format: string): Log {
  const line = format === 'json' ? jsonLine : textLine
  return {
    info: (message, details) => console.log(line('info', message, details)),
    warn: (message, details) => console.error(line('warn', message, details)),
  }
}

function textLine(level: LogLevel, message: string, details?: object): string {
  const more = details === undefined ? '' : ` ${JSON.stringify(details)}`
  return `${new Date().toISOString()} ${level} ${message}${more}`
}

function jsonLine(level: LogLevel, message: string, details?: object): string {
  return JSON.stringify({ ...details, time: new Date().toISOString(), level, message })
}
