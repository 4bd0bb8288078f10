/** Texts that would run `code` if a page took them for markup, an address, a template or a script. */
const SHAPES: readonly ((code: string) => string)[] = [
  (code) => `<script>${code}</script>`,
  (code) => `<img src=x onerror=${code}>`,
  (code) => `"><img src=x onerror="${code}">`,
  (code) => `</textarea></title></style><script>${code}</script>`,
  (code) => `<a href="javascript:${code}" autofocus>open</a>`,
  (code) => `JaVaScRiPt://%0a${code}`,
  (code) => `data:text/html,<script>opener.${code}</script>`,
  (code) => `" autofocus onfocus="${code}`,
  (code) => `\` onerror=${code} \``,
  (code) => `{{constructor.constructor('${code}')()}}`,
  (code) => `');${code};('`,
  (code) => `\\u0022;${code}//`,
  (code) => `<details open ontoggle=${code}>`,
  (code) => `<form action="javascript:${code}"><button>press`,
  (code) => `<base href="javascript:${code}//"><link rel=import href=/>`,
  (code) => `<style>@import "javascript:${code}";*{background:url(//evil.example/)}</style>`,
  (code) => `--><!--><script>${code}</script><!--`,
  (code) => `\u202e>tpircs/<${code}>tpircs<\u202c\u2066\u200f`,
  (code) => `\uff1cscript\uff1e${code}\uff1c/script\uff1e`,
  (code) => `__proto__ constructor null undefined NaN [object Object] ${code}`,
  (code) => `${'\u0f00\u0300\u0301'.repeat(20)}${code}${'W'.repeat(60)}`,
];

/** How the same text hides from filters. */
const DISGUISES: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) =>
    text.replaceAll(/<(\/?)(\w+)/g, (_, slash: string, name: string) => `<${slash}${name.toUpperCase()}`),
  (text) => text.replaceAll('<', '&lt;').replaceAll('"', '&quot;'),
  (text) => text.replaceAll('script', 'scr\u200bipt'),
  (text) => `"'>${text}`,
  (text) => `${text}<!-- '"\``,
];

/** What a page has to display of the text, however the rest is displayed. */
export function markOf(number: number): string {
  return `hostile${number}e`;
}

/** Texts of at most 255 characters without control characters, always the same; each runs `ran.push(number)` if it can. */
export function hostileTexts(count: number): readonly string[] {
  return Array.from({ length: count }, (_, number) => {
    const shape = SHAPES[number % SHAPES.length]!;
    const disguise = DISGUISES[Math.floor(number / SHAPES.length) % DISGUISES.length]!;
    const code = `globalThis.ran=[globalThis.ran,${number}]`;
    const text = `${markOf(number)} ${disguise(shape(code))}`;
    const cut = [...text].slice(0, 255).join('');
    // Half of a pair would be refused.
    return cut.replace(/\p{Cs}$/u, '').trim();
  });
}
