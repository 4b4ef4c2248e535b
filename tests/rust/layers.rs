//! Imports point down: which part of the library may know which, and no two files import each other.
//!
//! The check reads the sources: `use` declarations and paths that begin with `crate::` or `super::`, outside of comments
//! and tests.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

/// The parts of the library. Each may import those below it and no other; `lib.rs` declares them all.
const LAYERS: [&str; 19] = [
    "python",
    "encoding",
    "train",
    "encode",
    "huggingface",
    "documents",
    "cache",
    "merge",
    "split",
    "reference",
    "builtin",
    "sentencepiece",
    "vocabulary",
    "normalize",
    "unicode",
    "util",
    "error",
    "token",
    "checkpoint",
];

/// A module path below the crate, `["encode", "special"]`.
type Module = Vec<String>;

/// The source files by module, tests left out.
fn modules() -> Result<BTreeMap<Module, String>, Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    let mut sources = BTreeMap::new();
    for file in files {
        let module = module_of(file.strip_prefix(&root)?);
        sources.insert(module, code_of(&fs::read_to_string(&file)?));
    }
    let tests: Vec<Module> = sources
        .iter()
        .flat_map(|(module, code)| test_modules(module, code))
        .collect();
    sources.retain(|module, _| !tests.iter().any(|test| module.starts_with(test)));
    Ok(sources)
}

/// The module of a file below `src`.
fn module_of(file: &Path) -> Module {
    let path: PathBuf = file.with_extension("");
    let mut module: Module = path
        .iter()
        .map(|part| part.to_string_lossy().into_owned())
        .collect();
    if module.last().is_some_and(|last| last == "mod") {
        module.pop();
    }
    module
}

/// The code without comments and without the unit tests at its end.
fn code_of(source: &str) -> String {
    let code = source
        .split_once("#[cfg(test)]\nmod tests {")
        .map_or(source, |(code, _)| code);
    let lines = code.lines().map(|line| match line.find("//") {
        Some(start) => &line[..start],
        None => line,
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The modules that a file declares for tests alone.
fn test_modules(module: &Module, code: &str) -> Vec<Module> {
    let mut found = Vec::new();
    for (attribute, line) in code.lines().zip(code.lines().skip(1)) {
        if attribute.starts_with("#[cfg(") && attribute.contains("test") {
            let name = line
                .trim_start_matches("pub(crate) ")
                .strip_prefix("mod ")
                .and_then(|rest| rest.strip_suffix(';'));
            found.extend(name.map(|name| [module.as_slice(), &[name.to_owned()]].concat()));
        }
    }
    found
}

/// The paths that begin with `crate`, `super` or `self` in some code, groups in braces taken apart.
fn paths(code: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for start in ["crate::", "super::", "self::"] {
        for (at, _) in code.match_indices(start) {
            let before = code[..at].chars().next_back();
            if !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
                expand(&code[at..], &mut Vec::new(), &mut found);
            }
        }
    }
    found
}

/// Reads one path, or the group of paths, at the start of `rest`, and returns what follows it.
fn expand<'a>(rest: &'a str, before: &mut Vec<String>, found: &mut Vec<Vec<String>>) -> &'a str {
    let rest = rest.trim_start();
    if let Some(mut group) = rest.strip_prefix('{') {
        loop {
            group = expand(group, &mut before.clone(), found).trim_start();
            match group.strip_prefix(',') {
                Some(more) => group = more,
                None => return group.strip_prefix('}').unwrap_or(group),
            }
            if let Some(end) = group.trim_start().strip_prefix('}') {
                return end;
            }
        }
    }
    let end = rest
        .find(|c: char| !c.is_alphanumeric() && c != '_')
        .unwrap_or(rest.len());
    before.push(rest[..end].to_owned());
    if let Some(more) = rest[end..].strip_prefix("::") {
        return expand(more, before, found);
    }
    found.push(before.clone());
    &rest[end..]
}

/// The module that a path in `module` leads to, as deep as there are files.
fn target(module: &Module, path: &[String], known: &BTreeMap<Module, String>) -> Module {
    let mut absolute: Module = match path.first().map(String::as_str) {
        Some("crate") => Vec::new(),
        _ => module.clone(),
    };
    for part in path {
        match part.as_str() {
            "crate" | "self" => {}
            "super" => {
                absolute.pop();
            }
            _ => absolute.push(part.clone()),
        }
    }
    while !known.contains_key(&absolute) && !absolute.is_empty() {
        absolute.pop();
    }
    absolute
}

/// Which module imports which other.
fn imports(sources: &BTreeMap<Module, String>) -> BTreeSet<(Module, Module)> {
    let mut edges = BTreeSet::new();
    for (module, code) in sources {
        for path in paths(code) {
            let other = target(module, &path, sources);
            if !other.is_empty() && other != *module {
                edges.insert((module.clone(), other));
            }
        }
    }
    edges
}

#[test]
fn layers_import_downward() -> Result<(), Box<dyn Error>> {
    let sources = modules()?;
    let layer = |module: &Module| LAYERS.iter().position(|layer| *layer == module[0]);
    let mut wrong = Vec::new();
    for (from, to) in imports(&sources) {
        if from == ["lib"] {
            continue;
        }
        let (Some(upper), Some(lower)) = (layer(&from), layer(&to)) else {
            wrong.push(format!("{from:?} or {to:?} is in no layer"));
            continue;
        };
        if lower < upper {
            wrong.push(format!("{} imports {}", from.join("::"), to.join("::")));
        }
    }
    assert!(sources.len() > 100, "only {} files found", sources.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

#[test]
fn files_do_not_import_each_other_in_circles() -> Result<(), Box<dyn Error>> {
    let sources = modules()?;
    // A module uses its children and its children may use its types; all else must be free of circles.
    let family = |a: &Module, b: &Module| a.starts_with(b) || b.starts_with(a);
    let mut imported: BTreeMap<Module, Vec<Module>> = BTreeMap::new();
    for (from, to) in imports(&sources) {
        if !family(&from, &to) {
            imported.entry(from).or_default().push(to);
        }
    }
    let reaches = |from: &Module, to: &Module| {
        let (mut seen, mut left) = (BTreeSet::new(), vec![from]);
        while let Some(module) = left.pop() {
            if module == to {
                return true;
            }
            if seen.insert(module) {
                left.extend(imported.get(module).into_iter().flatten());
            }
        }
        false
    };
    let edges = imported
        .iter()
        .flat_map(|(from, others)| others.iter().map(move |to| (from, to)));
    let circle = edges
        .filter(|(from, to)| reaches(to, from))
        .map(|(from, to)| format!("{} imports {}", from.join("::"), to.join("::")));
    let circle: Vec<String> = circle.collect();
    assert!(circle.is_empty(), "{}", circle.join("\n"));
    Ok(())
}

#[test]
fn paths_are_read_as_rust_reads_them() {
    let code = "use crate::a::{self, b::{C, d}, e};\nfn f(x: super::g::H) { self::i() }";
    let mut found: Vec<String> = paths(code).iter().map(|path| path.join("::")).collect();
    found.sort();
    let expected = [
        "crate::a::b::C",
        "crate::a::b::d",
        "crate::a::e",
        "crate::a::self",
        "self::i",
        "super::g::H",
    ];
    assert_eq!(found, expected);
    assert_eq!(module_of(Path::new("encode/mod.rs")), ["encode"]);
    assert_eq!(
        code_of("a // b\n#[cfg(test)]\nmod tests {\n use x;\n}"),
        "a "
    );
}
