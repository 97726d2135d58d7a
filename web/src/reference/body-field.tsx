// The field of a request's body: JSON, with its fault or its refusal beside it, and the place of a fault marked.
import { useEffect, useRef } from 'preact/hooks'
import type { JsonFault } from './json-fault.ts'

type Props = {
  id: string
  body: string
  /** Of the text that was to be sent. */
  fault: JsonFault | undefined
  refusal: string | undefined
  onChange: (body: string) => void
  /** The text is written. */
  onLeave: () => void
}

export function BodyField({ id, body, fault, refusal, onChange, onLeave }: Props) {
  const field = useRef<HTMLTextAreaElement>(null)
  const told = fault?.message ?? refusal
  useEffect(() => {
    // Who left the field is elsewhere; who pressed Send is led back.
    if (fault !== undefined && (document.activeElement as HTMLButtonElement | null)?.form === field.current?.form) {
      field.current?.focus()
      field.current?.setSelectionRange(fault.position, fault.position + 1)
    }
  }, [fault])
  useEffect(() => {
    if (refusal === undefined) return
    field.current?.focus({ preventScroll: true })
    field.current?.nextElementSibling?.scrollIntoView({ block: 'center' })
  }, [refusal])
  return (
    <div class="field wide">
      <div class="field-head">
        <label for={`${id}-body`}>
          <code>body</code>
          <span class="required"> required</span>
        </label>
        <span class="field-type">JSON</span>
      </div>
      <textarea
        ref={field}
        id={`${id}-body`}
        name="body"
        rows={Math.min(24, body.split('\n').length + 1)}
        class="mono"
        spellcheck={false}
        value={body}
        aria-invalid={told !== undefined}
        aria-describedby={told === undefined ? undefined : `${id}-body-refusal`}
        onInput={event => onChange(event.currentTarget.value)}
        onChange={onLeave}
      />
      {told !== undefined && (
        <strong class="refusal" id={`${id}-body-refusal`} role="alert">
          {told}
        </strong>
      )}
    </div>
  )
}
