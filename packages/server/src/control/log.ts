/** One line for each thing that happened, for people and for machines: `time level message {"detail":…}`. Never a key. */
export interface Log {
  info(message: string, details?: object): void
  warn(message: string, details?: object): void
}

export const consoleLog: Log = {
  info: (message, details) => console.log(line('info', message, details)),
  warn: (message, details) => console.error(line('warn', message, details)),
}

function line(level: string, message: string, details: object | undefined): string {
  const more = details === undefined ? '' : ` ${JSON.stringify(details)}`
  return `${new Date().toISOString()} ${level} ${message}${more}`
}
