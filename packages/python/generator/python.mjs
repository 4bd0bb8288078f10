/** Words that cannot be names; with them, keys of a TypedDict need its other form, and parameters an underscore. */
const KEYWORDS = new Set(
  'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield'.split(
    ' ',
  ),
);

export const isName = (text) => /^[A-Za-z_]\w*$/.test(text) && !KEYWORDS.has(text);

export const snake = (text) => text.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

export const pascal = (text) =>
  text.replace(/(^|[^A-Za-z0-9])([A-Za-z0-9])/g, (_, __, letter) => letter.toUpperCase());

/** A literal of Python; JSON differs in three words. */
export const literal = (value) =>
  value === null ? 'None' : value === true ? 'True' : value === false ? 'False' : JSON.stringify(value);

export const indent = (text, by = '    ') => text.replace(/^(?=.)/gm, by);

/** A docstring, empty without a text. */
export function docstring(text) {
  if (!text) return '';
  const safe = text.trim().replaceAll('\\', '\\\\').replaceAll('"""', "'''");
  const lines = wrapped(safe, 112);
  return lines.length === 1 && !safe.endsWith('"') ? `"""${safe}"""\n` : `"""\n${lines.join('\n')}\n"""\n`;
}

/** A comment before a member, empty without a text. */
export const comment = (text) =>
  text
    ? wrapped(text, 110)
        .map((line) => `#: ${line}\n`)
        .join('')
    : '';

function wrapped(text, width) {
  const lines = [];
  for (const paragraph of text.split('\n')) {
    let line = '';
    for (const word of paragraph.split(' ')) {
      if (line !== '' && line.length + 1 + word.length > width) {
        lines.push(line);
        line = word;
      } else line = line === '' ? word : `${line} ${word}`;
    }
    lines.push(line);
  }
  return lines;
}
