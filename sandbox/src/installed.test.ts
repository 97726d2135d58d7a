import { expect, test } from 'vitest'
import { whyNoneLoads } from './installed.ts'

test('a package that was left out is not blamed on the machine', () => {
  expect(whyNoneLoads('litesvm', 'linux x64', () => false)).toBe(
    'litesvm is not installed; install optional packages too, with npm install --include=optional',
  )
  expect(whyNoneLoads('litesvm', 'linux x64', () => true)).toBe('litesvm is installed and does not load on linux x64')
  expect(whyNoneLoads('litesvm', 'linux riscv64', () => false)).toBe('no package of litesvm is made for linux riscv64')
})
