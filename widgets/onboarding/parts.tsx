import type { ComponentChildren, InputHTMLAttributes, PartialInputHTMLAttributes, RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Steps } from '../parts.js';
import { usePage } from './page.js';

/** The heading of a screen: gets the focus when the screen appears, so that a screen reader begins there. */
export function Heading({ children }: { children: string }) {
  const heading = useRef<HTMLHeadingElement>(null);
  const { facts } = usePage();
  useEffect(() => {
    document.title = `${children} · ${facts.merchantName}`;
    heading.current?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, [children]);
  return (
    <h1 tabIndex={-1} ref={heading}>
      {children}
    </h1>
  );
}

/** Something went wrong, or has to be known before going on; empty when nothing is. Stays in the page, so that it is read out. */
export function Alert({ kind = 'bad', children }: { kind?: 'bad' | 'info'; children: ComponentChildren }) {
  return (
    <div role="alert" class="alerts">
      {children !== null && children !== '' && <p class={`alert ${kind}`}>{children}</p>}
    </div>
  );
}

export function SandboxNote({ children }: { children: ComponentChildren }) {
  const { facts, format } = usePage();
  if (facts.sandbox === null) return null;
  return (
    <div class="sandbox">
      <strong>{format('sandbox')}</strong> {children}
    </div>
  );
}

export function Submit({ busy, children }: { busy: boolean; children: ComponentChildren }) {
  const { format } = usePage();
  return (
    <>
      <button type="submit" aria-disabled={busy} class={busy ? 'busy' : ''}>
        {children}
      </button>
      <span class="unseen" role="status">
        {busy ? format('busy') : ''}
      </span>
    </>
  );
}

export type InputAttributes = Omit<PartialInputHTMLAttributes<HTMLInputElement>, 'type' | 'role'>;

interface FieldProps {
  readonly name: string;
  readonly label: string;
  readonly error: string;
  readonly hint?: string;
  readonly type: 'text' | 'tel' | 'email';
  readonly input: InputAttributes;
}

/** An input with its label, what has to be known before, and what is wrong with it. */
export function Field({ name, label, error, hint, type, input }: FieldProps) {
  const attributes = {
    ...input,
    id: name,
    name,
    type,
    'aria-invalid': error !== '',
    'aria-describedby': `${hint === undefined ? '' : `${name}-hint `}${name}-error`,
  } as InputHTMLAttributes<HTMLInputElement>;
  return (
    <div class="field">
      <label for={name}>{label}</label>
      {hint !== undefined && (
        <p class="hint" id={`${name}-hint`}>
          {hint}
        </p>
      )}
      <input {...attributes} />
      <p class="error" id={`${name}-error`}>
        {error}
      </p>
    </div>
  );
}

export function Progress({ at }: { at: number }) {
  const { format } = usePage();
  const steps = [format('stepPhone'), format('stepDetails'), format('stepDocuments')];
  return <Steps label={format('steps')} steps={steps} at={at} />;
}

/** Puts the cursor into the first field of the form that is marked as wrong, once it is. */
export function useFocusOnError(errors: unknown): RefObject<HTMLFormElement | null> {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    const wrong = form.current?.querySelector<HTMLElement>('[aria-invalid=true]');
    (wrong?.querySelector('input') ?? wrong)?.focus();
  }, [errors]);
  return form;
}
