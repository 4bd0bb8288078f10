import { randomUUID } from 'node:crypto';
import { scanItems } from '../src/tracking/domain/item-scan.js';
const body = (n: number) => Buffer.from(JSON.stringify({ events: Array.from({ length: n }, (_, i) => ({
  event_name: 'Checkout Completed', payload: { amount: '12.50', currency: 'USDC', screen: 'checkout', step: i, items: [{ sku: `sku-${i}`, quantity: 2 }], ok: true },
  event_datetime: new Date(1767225600000 + i * 1000).toISOString(), event_id: randomUUID(), user_external_id: `customer-${i % 97}`, device_id: randomUUID() })) }));
const b = body(1000);
function time(name: string, f: () => unknown, n = 300) { for (let i = 0; i < 100; i++) f(); let best = 1e9; for (let r = 0; r < 15; r++) { const s = performance.now(); for (let i = 0; i < 20; i++) f(); const ms = (performance.now() - s) / (20); if (ms < best) best = ms; } console.log(name.padEnd(30), best.toFixed(3), 'ms'); }
time('scan', () => scanItems(b, 1000));
// variant: jump over strings with a table
const T = new Uint8Array(256); T[0x22]=1;T[0x2c]=2;T[0x5b]=3;T[0x7b]=3;T[0x5d]=4;T[0x7d]=4;
function scan2(bytes: Uint8Array) { let d=0, m=0, c=0; for (let i=0;i<bytes.length;i++){ const t=T[bytes[i]!]!; if(t===0) continue; if(t===1){ i++; let x; while((x=bytes[i])!==0x22 && i<bytes.length) i+= x===0x5c?2:1; } else if(t===2){ if(d===2) c++; } else if(t===3){ d++; if(d>m)m=d;} else d--; } return [c,m]; }
time('scan2', () => scan2(b));
function scan3(bytes: Buffer) { let d=0, m=0, c=0; for (let i=0;i<bytes.length;i++){ const t=T[bytes[i]!]!; if(t===0) continue; if(t===1){ const e=bytes.indexOf(0x22,i+1); i=e; } else if(t===2){ if(d===2) c++; } else if(t===3){ d++; if(d>m)m=d;} else d--; } return [c,m]; }
time('scan3 indexOf', () => scan3(b), );
const s=b.latin1Slice();
function scan4(bytes: string) { let d=0, m=0, c=0; const L=bytes.length; for (let i=0;i<L;i++){ const t=bytes.charCodeAt(i); if(t===0x22){ i++; let x; while(i<L&&(x=bytes.charCodeAt(i))!==0x22 ) i+= x===0x5c?2:1; } else if(t===0x2c){ if(d===2) c++; } else if((t|0x20)===0x7b){ d++; if(d>m)m=d;} else if ((t|0x20)===0x7d) d--; } return [c,m]; }
time('scan4 string', () => scan4(s));
function scan5(bytes: string) { let d=0, m=0, c=0; const L=bytes.length; for (let i=0;i<L;i++){ const t=bytes.charCodeAt(i); if(t===0x22){ i=bytes.indexOf('"',i+1);  } else if(t===0x2c){ if(d===2) c++; } else if((t|0x20)===0x7b){ d++; if(d>m)m=d;} else if ((t|0x20)===0x7d) d--; } return [c,m]; }
time('scan5 string indexOf', () => scan5(s));
const re=/[[\]{},"]/g;
function scan6(str: string){ let d=0,m=0,c=0; const r=/"(?:[^"\\]|\\.)*"|[[\]{},]/g; let x; while((x=r.exec(str))) c++; return c }
time('scan6 regex', () => scan6(s));
time('JSON.parse', () => JSON.parse(s));
