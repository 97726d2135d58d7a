// The page of an address that is none: nothing else on it could be answered.
import { shortText } from '../quantities.ts'
import type { Problem } from '../state/service.ts'
import { FailureNote } from './failure-note.tsx'

/** `of`: what it would be the address of. */
export function NoAddress({ of, address, problem }: { of: string; address: string; problem: Problem }) {
  const [, thing = ''] = of.split(' ')
  return (
    <>
      <div class="heading">
        <h1>
          {thing.replace(/^./, letter => letter.toUpperCase())} {shortText(address)}
        </h1>
      </div>
      <FailureNote
        problem={{ ...problem, message: 'An address has 40 hex digits after 0x.', errors: [] }}
        what={`This is not an address of ${of}.`}
      />
    </>
  )
}
