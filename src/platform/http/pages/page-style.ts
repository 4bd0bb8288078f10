/** The style of all pages in light and dark mode, with a contrast of at least 4.5. */
export const PAGE_STYLE = `
:root{color-scheme:light dark;--ground:#f2f4f8;--card:#fff;--ink:#151a23;--soft:#535c6c;--line:#838c9c;--faint:#dde1e9;
--accent:#2446c8;--accent-hover:#1b369f;--on-accent:#fff;--bad:#b01d17;--bad-ground:#fdeeed;--good:#0f6b3c;--good-ground:#e7f5ed;
--try:#7a4a00;--try-ground:#fff5e0;--try-line:#e3b75d}
@media(prefers-color-scheme:dark){:root{--ground:#0d1015;--card:#171b22;--ink:#e9ecf1;--soft:#a5aebc;--line:#6d778a;--faint:#2b313c;
--accent:#9fb5ff;--accent-hover:#bccbff;--on-accent:#0b1233;--bad:#ffa39b;--bad-ground:#3a1a19;--good:#7fd9a8;--good-ground:#12301f;
--try:#f3cf85;--try-ground:#2e2410;--try-line:#7c5e1d}}
*{box-sizing:border-box}
[hidden]{display:none!important}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;min-height:100vh;min-height:100dvh;padding:3rem 1rem;background:var(--ground);color:var(--ink);
font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
main{max-width:27rem;margin:0 auto;padding:2rem;background:var(--card);border-radius:1rem;
box-shadow:0 1px 2px #0000001a,0 12px 32px -12px #00000026}
h1{margin:0 0 .5rem;font-size:1.5rem;line-height:1.25;letter-spacing:-.01em;outline:none;text-wrap:balance}
p{margin:0 0 1rem;overflow-wrap:anywhere}
.lead,.hint,.small{color:var(--soft)}
.lead{margin-bottom:1.5rem}
.small{font-size:.875rem}
strong{font-weight:600;color:var(--ink)}
@media(max-width:30rem){body{padding:0;background:var(--card)}main{padding:1.5rem 1.25rem 2rem;border-radius:0;box-shadow:none}}
`;
