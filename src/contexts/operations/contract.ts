export { LookupsView } from './views/lookups.js';
