import { PAGE_STYLE } from '../../../../platform/http/pages/page-style.js';

/** The whole style of the onboarding page. */
export const STYLE = `${PAGE_STYLE}
.progress{display:flex;gap:.5rem;list-style:none;margin:0 0 2rem;padding:0;font-size:.8125rem;color:var(--soft)}
.progress li{flex:1;padding-top:.625rem;border-top:4px solid var(--faint);border-radius:2px}
.progress .past,.progress [aria-current]{border-color:var(--accent)}
.progress [aria-current]{color:var(--ink);font-weight:600}
.eyebrow{margin:0 0 .25rem;font-size:.875rem;font-weight:600;color:var(--accent)}

.field{margin:0 0 1.25rem}
label{display:block;margin-bottom:.375rem;font-weight:600;font-size:.9375rem}
input{display:block;width:100%;min-height:3rem;padding:.625rem .875rem;font:inherit;color:inherit;background:var(--card);
border:1px solid var(--line);border-radius:.625rem;appearance:none}
input[readonly]{background:var(--ground);color:var(--soft);border-color:var(--faint)}
input[aria-invalid=true]{border-color:var(--bad);box-shadow:inset 0 0 0 1px var(--bad)}
#code-field{font-size:1.5rem;letter-spacing:.3em;font-variant-numeric:tabular-nums}
.hint{margin:.375rem 0 0;font-size:.875rem}
.error{margin:.375rem 0 0;font-size:.875rem;font-weight:500;color:var(--bad)}
.error:empty{display:none}
.pair{display:grid;gap:0 1rem;grid-template-columns:1fr 1fr}

button,.button{display:flex;align-items:center;justify-content:center;gap:.625rem;width:100%;min-height:3rem;padding:.625rem 1.25rem;
font:inherit;font-weight:600;text-decoration:none;color:var(--on-accent);background:var(--accent);border:0;border-radius:.625rem;cursor:pointer}
button:hover,.button:hover{background:var(--accent-hover)}
button.quiet{min-height:2.75rem;margin-top:.5rem;color:var(--accent);background:none}
button.quiet:hover{text-decoration:underline}
button:disabled{cursor:default;opacity:.75}
button.quiet:disabled{color:var(--soft);opacity:1;text-decoration:none}
:is(button,input,a):focus-visible{outline:3px solid var(--accent);outline-offset:2px}
[aria-busy=true] button[type=submit]::before,.spinner{content:"";flex:none;width:1.125em;height:1.125em;border:.15em solid;
border-right-color:transparent;border-radius:50%;animation:turn .8s linear infinite}
.spinner{display:block;width:2.5rem;height:2.5rem;margin:.5rem auto 1.5rem;color:var(--accent)}
@keyframes turn{to{transform:rotate(1turn)}}
@media(prefers-reduced-motion:reduce){*,::before{animation-duration:3s!important}}

.alert,.sandbox{padding:.75rem 1rem;border-radius:.625rem;margin:0 0 1.5rem;font-size:.9375rem}
.alert{color:var(--bad);background:var(--bad-ground)}
.sandbox{color:var(--try);background:var(--try-ground);border:1px dashed var(--try-line)}
.sandbox p{margin:0}
.sandbox strong{color:inherit}
.sandbox output{font-weight:700;letter-spacing:.1em;font-variant-numeric:tabular-nums}
dl{margin:0 0 1.5rem;border-top:1px solid var(--faint)}
dl div{display:flex;justify-content:space-between;gap:1rem;padding:.625rem 0;border-bottom:1px solid var(--faint)}
dt{color:var(--soft)}
dd{margin:0;text-align:right;font-weight:500;overflow-wrap:anywhere;min-width:0}
section{padding-top:.5rem;text-align:center}
.mark{display:grid;place-items:center;width:3.5rem;height:3.5rem;margin:0 auto 1.25rem;border-radius:50%;color:var(--good);background:var(--good-ground)}
.mark svg{width:1.75rem;height:1.75rem;fill:none;stroke:currentColor;stroke-width:2.5;stroke-linecap:round;stroke-linejoin:round}
@media(max-width:22rem){.pair{display:block}}
`;
