import type { ComponentChildren } from 'preact';

type Values = Readonly<Record<string, string | number>>;
/** Returns a text in the person's language, with its placeholders filled in. */
export type FormatOf<Messages> = (key: keyof Messages, values?: Values) => string;

export function formatIn<Messages extends Readonly<Record<keyof Messages, string>>>(
  messages: Messages,
): FormatOf<Messages> {
  return (key, values = {}) =>
    messages[key].replace(/\{(\w+)\}/g, (placeholder, name: string) => String(values[name] ?? placeholder));
}

/** Returns the parts of a text, with elements in place of its placeholders. */
export function rich(
  text: string,
  elements: Readonly<Record<string, ComponentChildren>>,
): ComponentChildren[] {
  return text.split(/\{(\w+)\}/).map((part, index) => (index % 2 === 0 ? part : elements[part]));
}
