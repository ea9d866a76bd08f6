import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { quickenStrings } from './quick-strings.ts'

test('strings inherit from something quick, whatever extends them', () => {
  setFlagsFromString('--allow-natives-syntax')
  // Every context has strings of its own, and these were never looked at.
  const isQuick = runInNewContext(`
    class Marked extends String {}
    ;(${quickenStrings})();
    %HasFastProperties(String.prototype)
  `)
  expect(isQuick).toBe(true)
})
