// The few drawings of the console. All are decoration: what they mean is said in words beside them.
import type { ComponentChildren } from 'preact'

function Icon({ children }: { children: ComponentChildren }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      {children}
    </svg>
  )
}

export function CopyIcon() {
  return (
    <Icon>
      <rect x="5.5" y="5.5" width="8" height="8" rx="1.5" />
      <path d="M10.5 3.5v-.3a.7.7 0 0 0-.7-.7H3.2a.7.7 0 0 0-.7.7v6.6c0 .4.3.7.7.7h.3" />
    </Icon>
  )
}

export function CheckIcon() {
  return (
    <Icon>
      <path d="m3 8.5 3.2 3.2L13 4.8" />
    </Icon>
  )
}

export function MoonIcon() {
  return (
    <Icon>
      <path d="M13 9.6A5.5 5.5 0 0 1 6.4 3a5.5 5.5 0 1 0 6.6 6.6Z" />
    </Icon>
  )
}

export function SunIcon() {
  return (
    <Icon>
      <circle cx="8" cy="8" r="2.8" />
      <path d="M8 1.5v1.6M8 12.9v1.6M1.5 8h1.6M12.9 8h1.6M3.4 3.4l1.1 1.1M11.5 11.5l1.1 1.1M12.6 3.4l-1.1 1.1M4.5 11.5l-1.1 1.1" />
    </Icon>
  )
}

export function SystemIcon() {
  return (
    <Icon>
      <circle cx="8" cy="8" r="5.5" />
      <path d="M8 2.5a5.5 5.5 0 0 1 0 11Z" fill="currentColor" />
    </Icon>
  )
}

export function SearchIcon() {
  return (
    <Icon>
      <circle cx="7" cy="7" r="4.25" />
      <path d="m10.2 10.2 3.3 3.3" />
    </Icon>
  )
}

/** A box with nothing in it. */
export function EmptyIcon() {
  return (
    <Icon>
      <path d="M2.5 9.5 4 3.5h8l1.5 6v3a1 1 0 0 1-1 1h-9a1 1 0 0 1-1-1Z" />
      <path d="M2.5 9.5h3l1 1.5h3l1-1.5h3" />
    </Icon>
  )
}

export function CompassIcon() {
  return (
    <Icon>
      <circle cx="8" cy="8" r="5.5" />
      <path d="m10.4 5.6-1.4 3.4-3.4 1.4 1.4-3.4Z" />
    </Icon>
  )
}

export function AlertIcon() {
  return (
    <Icon>
      <path d="M8 2.2 14.2 13H1.8Z" />
      <path d="M8 6.5v3M8 11.3v.1" />
    </Icon>
  )
}

export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <circle cx="16" cy="16" r="14" class="mark-disc" />
      <path d="M16 5a11 11 0 0 1 0 22 14 14 0 0 0 0-22Z" class="mark-moon" />
      <circle cx="9.5" cy="16" r="1.6" class="mark-moon" />
    </svg>
  )
}
