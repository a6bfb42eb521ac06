//! Builds the wasm and its JavaScript into `www/pkg`, that of lips into `www/lips/pkg`, puts the page's libraries into `www/vendor`, minifies the page's own scripts into
//! `dist/minified`, lists the site's files by their hash, and lays out the site.

use crate::notices;
use crate::setup::{self, WASM, cargo_wasm};
use crate::shell::{
    Result, command, copy_dir, create_dir, fingerprint, prepend_path, read, read_text, remove_dir, root, run,
    timed, wasm_target, write,
};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// Which folder answers for which first part of a path. The page is last: it answers for the rest.
pub const SITE: [(&str, &str); 3] = [("js", "web/js"), ("models", "models"), ("", "www")];

/// A module of WebAssembly with its JavaScript. What is served and shipped is the module's gzip, a seventh of the size wherever it is hosted.
struct Program {
    /// The crate that it is made of.
    package: &'static str,
    /// Where it goes.
    folder: &'static str,
    /// Licences of what its page has beside it, each by a name.
    licences: &'static [(&'static str, &'static str)],
}

/// That of the page itself.
const VOICE: Program = Program {
    package: "ownvoice-web",
    folder: "www/pkg",
    licences: &[("uplot", "www/vendor/uplot-licence.txt"), WAVESURFER],
};

/// That of the page of lips, which loads nothing of the other: on the CPU alone, which speaks faster than a video lasts.
const LIPS: Program = Program {
    package: "ownvoice-web-lips",
    folder: "www/lips/pkg",
    licences: &[WAVESURFER, ("SeetaFace", "crate/data/LICENSE-SEETAFACE")],
};

const WAVESURFER: (&str, &str) = ("wavesurfer", "www/vendor/wavesurfer-licence.txt");

impl Program {
    /// What the compiler and wasm-bindgen call it.
    fn stem(&self) -> String {
        self.package.replace('-', "_")
    }

    fn module(&self) -> String {
        format!("{}_bg.wasm", self.stem())
    }

    fn folder(&self) -> PathBuf {
        root().join(self.folder)
    }
}

/// What only the page of lips asks for: nobody else fetches it, not even for visits without the internet.
fn is_of_lips(name: &str) -> bool {
    name == "lips.html" || name.starts_with("lips/")
}

/// The page's libraries, in the form that sets a global: where from, in `page-libraries/node_modules`, and under which name, in `www/vendor`.
const LIBRARIES: [(&str, &str); 5] = [
    ("uplot/dist/uPlot.iife.min.js", "uplot.js"),
    ("uplot/dist/uPlot.min.css", "uplot.css"),
    ("uplot/LICENSE", "uplot-licence.txt"),
    ("wavesurfer.js/dist/wavesurfer.min.js", "wavesurfer.js"),
    ("wavesurfer.js/LICENSE", "wavesurfer-licence.txt"),
];

/// The page's own scripts as they are served, each under its path in the site. What is written by hand stays as it is, and so does the npm package.
pub const MINIFIED: &str = "dist/minified";

/// The licences of the libraries in the module, beside it.
const NOTICES: &str = "third-party.txt";

/// The list of the site's files, in `www/pkg`.
pub const FILES: &str = "site-files.js";

/// `cargo xtask build`. As Trunk's hook it also lays the site into Trunk's staging folder.
pub fn all() -> Result {
    page()?;
    match env::var_os("TRUNK_STAGING_DIR") {
        Some(staging) => site(Path::new(&staging)),
        None => Ok(()),
    }
}

/// `www/vendor`, `dist/minified`, `www/pkg` and `www/lips/pkg`: modules, their glue and their types.
pub fn page() -> Result {
    voice()?;
    lips()?;
    write(&whole_was_built(), "")
}

/// The same without what the page of lips is made of.
pub fn voice() -> Result {
    program(&VOICE, &[], "wasm (the first time compiles burn, about 10 minutes on two cores)")?;
    list()
}

/// What the page of lips has of its own. After [`page_for_cpu`] little of it is left to compile.
pub fn lips() -> Result {
    program(
        &LIPS,
        &[],
        "wasm of lips (the first time compiles burn for the CPU, about 5 minutes on two cores)",
    )
}

/// The voice without kernels for graphics cards, which most of the first build goes into.
pub fn page_for_cpu() -> Result {
    program(&VOICE, &["--no-default-features"], "wasm for the CPU alone")?;
    list()
}

/// Whether [`page`] has little left to compile.
pub fn is_quick() -> bool {
    whole_was_built().is_file()
}

fn whole_was_built() -> PathBuf {
    wasm_target().join(".whole")
}

fn list() -> Result {
    write(&VOICE.folder().join(FILES), listed(root())?)
}

fn program(program: &Program, features: &[&str], what: &str) -> Result {
    libraries()?;
    scripts()?;
    let bindgen = setup::bindgen()?;
    let mut cargo = cargo_wasm()?;
    cargo
        .args(["build", "--release", "--target", WASM, "--package", program.package, "--lib"])
        .args(features);
    timed(what, || run(&mut cargo))?;

    let wasm = wasm_target().join(WASM).join(format!("release/{}.wasm", program.stem()));
    let stamp = program.folder().join(".built-from");
    let source =
        format!("minified, reset, nameless, with notices of {} {}", bindgen.display(), fingerprint(&wasm)?);
    if fs::read_to_string(&stamp).is_ok_and(|built| built == source) {
        return Ok(());
    }
    // Beside the one that may be served meanwhile.
    let package = root().join("dist/pkg");
    remove_dir(&package)?;
    let mut glue = command("wasm-bindgen");
    prepend_path(&mut glue, &[&bindgen])?;
    // The worker itself names the module's address and form.
    glue.args([
        "--target",
        "web",
        "--omit-default-module-path",
        "--experimental-reset-state-function",
        "--remove-name-section",
        "--out-dir",
    ])
    .arg(&package)
    .arg(&wasm);
    timed("wasm-bindgen", || run(&mut glue))?;
    timed("gzip and terser", || {
        let glue = package.join(format!("{}.js", program.stem()));
        gzip(&package.join(program.module())).and_then(|()| minify(&[(glue.clone(), glue)]))
    })?;
    let mut notices = notices::wasm(program.package)?;
    write(&package.join(NOTICES), &notices)?;
    if program.package == VOICE.package {
        // The npm package and the type checker look beside the JavaScript, in web/.
        let beside = root().join("web/pkg");
        remove_dir(&beside)?;
        copy_dir(&package, &beside)?;
        let module = beside.join(program.module());
        fs::remove_file(&module).map_err(|e| format!("{}: {e}", module.display()))?;
    }
    // The page has more than the module.
    for (name, licence) in program.licences {
        let text = read_text(&root().join(licence))?;
        notices.push_str(&format!("\n{}\n{name}\n\n{}\n", "=".repeat(80), text.trim()));
    }
    write(&package.join(NOTICES), notices)?;
    write(&package.join(".built-from"), source)?;
    let folder = program.folder();
    remove_dir(&folder)?;
    fs::rename(&package, &folder).map_err(|e| format!("{}: {e}", package.display()))
}

/// The page's libraries as their authors packed them, each with its licence. Nothing is fetched from elsewhere when the page runs.
fn libraries() -> Result {
    setup::page_modules()?;
    let folder = root().join("www/vendor");
    create_dir(&folder)?;
    for (from, name) in LIBRARIES {
        let source = root().join("page-libraries/node_modules").join(from);
        fs::copy(&source, folder.join(name)).map_err(|e| format!("{}: {e}", source.display()))?;
    }
    Ok(())
}

/// Minifies what has changed since it was last done.
fn scripts() -> Result {
    let folder = root().join(MINIFIED);
    let mut own = Vec::new();
    for (part, from) in SITE.into_iter().filter(|(part, _)| *part != "models") {
        walk(&root().join(from), part, &mut own)?;
    }
    own.retain(|(name, _)| {
        name.ends_with(".js") && !["pkg/", "vendor/", "lips/pkg/"].iter().any(|made| name.starts_with(made))
    });
    let changed =
        own.into_iter().map(|(name, source)| (served(root(), &name, &source), folder.join(name), source));
    let stale: Vec<_> =
        changed.filter(|(now, small, _)| now != small).map(|(_, small, source)| (source, small)).collect();
    if stale.is_empty() { Ok(()) } else { timed("terser", || minify(&stale)) }
}

/// The file that answers for a path of the site: the minified copy of a script, unless the script has been changed since.
pub fn served(root: &Path, name: &str, source: &Path) -> PathBuf {
    let small = root.join(MINIFIED).join(name);
    let changed = |path: &Path| fs::metadata(path).and_then(|about| about.modified()).ok();
    let fresh = small.is_file() && changed(&small) >= changed(source);
    if fresh { small } else { source.to_path_buf() }
}

/// What sw.js keeps for visits without the internet: every file of the page by its hash, and those that describe the base voice. The
/// rest of the base is named, by hash again, in its manifest.
pub fn listed(root: &Path) -> Result<String> {
    let mut found = Vec::new();
    for (part, folder) in SITE.into_iter().filter(|(part, _)| *part != "models") {
        walk(&root.join(folder), part, &mut found)?;
    }
    // The list cannot name itself, nor the worker that reads it; the module is fetched as its gzip; types are for editors.
    let module = VOICE.module();
    let unlisted = ["sw.js", &format!("pkg/{FILES}"), &format!("pkg/{module}")];
    found.retain(|(name, _)| {
        !name.ends_with(".d.ts") && !unlisted.contains(&name.as_str()) && !is_of_lips(name)
    });
    for file in ["models/prompts.json", "models/base/manifest.json"] {
        found.push((file.to_string(), root.join(file)));
    }
    let hashed =
        found.into_iter().map(|(name, source)| Ok((name.clone(), hash(&served(root, &name, &source))?)));
    let files = hashed.collect::<Result<BTreeMap<_, _>>>()?;
    // A host that declares the gzip as Content-Encoding makes the browser unpack it.
    let unpacked_module = root.join("www/pkg").join(&module);
    let unpacked = if unpacked_module.is_file() {
        BTreeMap::from([(format!("pkg/{module}.gz"), hash(&unpacked_module)?)])
    } else {
        BTreeMap::new()
    };
    let json = |map: &BTreeMap<String, String>| serde_json::to_string_pretty(map).expect("plain text");
    Ok(format!(
        "// The files of this version of the page, by the first half of their SHA-256. Written by `cargo xtask build`.\nself.OWNVOICE_UNPACKED = {};\nself.OWNVOICE_FILES = {};\n",
        json(&unpacked),
        json(&files)
    ))
}

/// The files of a folder, with their paths in the site. A link to web/js answers under its own name, and what is hidden is not served.
fn walk(folder: &Path, part: &str, found: &mut Vec<(String, PathBuf)>) -> Result {
    for entry in fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?.flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') || path.is_symlink() {
            continue;
        }
        let name = if part.is_empty() { name } else { format!("{part}/{name}") };
        if path.is_dir() { walk(&path, &name, found)? } else { found.push((name, path)) }
    }
    Ok(())
}

/// The first half of a file's SHA-256: no other file of that half can be made, and every visitor fetches the list of them.
fn hash(path: &Path) -> Result<String> {
    Ok(Sha256::digest(read(path)?)[..16].iter().map(|byte| format!("{byte:02x}")).collect())
}

/// All files of the site in one folder, as a host of static files would have them.
fn site(to: &Path) -> Result {
    let mut files = Vec::new();
    for (part, folder) in SITE {
        walk(&root().join(folder), part, &mut files)?;
    }
    for (name, source) in files {
        let target = to.join(&name);
        create_dir(target.parent().expect("it lies in the folder"))?;
        fs::copy(served(root(), &name, &source), target).map_err(|e| format!("{name}: {e}"))?;
    }
    Ok(())
}

/// Writes a file's `gzip -9` beside it, by Node, which is here anyway.
fn gzip(path: &Path) -> Result {
    let script = "const [, file] = process.argv; const fs = require('fs'); \
                  fs.writeFileSync(`${file}.gz`, require('zlib').gzipSync(fs.readFileSync(file), { level: 9 }))";
    run(command("node").args(["-e", script]).arg(path))
}

/// Takes comments and long names out of scripts: each visitor fetches them. Pairs of a file and where the small one goes.
fn minify(scripts: &[(PathBuf, PathBuf)]) -> Result {
    run(command("node").arg("xtask/minify.mjs").args(scripts.iter().flat_map(|(from, to)| [from, to])))
}

/// Bytes that a visitor downloads of the module.
pub fn module_bytes() -> Result<u64> {
    let path = VOICE.folder().join(format!("{}.gz", VOICE.module()));
    fs::metadata(&path).map(|file| file.len()).map_err(|e| format!("{}: {e}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_names_what_the_page_is_made_of() {
        let root = env::temp_dir().join(format!("ownvoice-list-{}", std::process::id()));
        for (file, content) in [
            ("www/index.html", "page"),
            ("www/sw.js", "worker"),
            ("www/pkg/site-files.js", "old list"),
            ("www/pkg/x.wasm", "abc"),
            ("www/pkg/x.d.ts", "types"),
            ("www/pkg/.built-from", "stamp"),
            ("www/lips.html", "page of lips"),
            ("www/lips/app.js", "script of lips"),
            ("www/lips/pkg/y.wasm", "module of lips"),
            ("web/js/index.js", "module"),
            ("web/js/types/index.d.ts", "types"),
            ("models/prompts.json", "[]"),
            ("models/base/manifest.json", "{}"),
            ("models/base/weights.safetensors", "weights"),
        ] {
            let path = root.join(file);
            create_dir(path.parent().unwrap()).unwrap();
            write(&path, content).unwrap();
        }
        // A small script stands for its source, until the source is changed.
        let small = root.join(MINIFIED).join("js/index.js");
        create_dir(small.parent().unwrap()).unwrap();
        write(&small, "abc").unwrap();
        assert_eq!(served(&root, "js/index.js", &root.join("web/js/index.js")), small);
        let list = listed(&root).unwrap();
        let json = list.split_once("FILES = ").unwrap().1.trim_end().trim_end_matches(';');
        let files: BTreeMap<String, String> = serde_json::from_str(json).unwrap();
        let names: Vec<&str> = files.keys().map(String::as_str).collect();
        assert_eq!(
            names,
            ["index.html", "js/index.js", "models/base/manifest.json", "models/prompts.json", "pkg/x.wasm"]
        );
        let abc = "ba7816bf8f01cfea414140de5dae2223";
        assert_eq!((files["pkg/x.wasm"].as_str(), files["js/index.js"].as_str()), (abc, abc));
        let changed = fs::File::options().write(true).open(root.join("web/js/index.js")).unwrap();
        changed.set_modified(std::time::SystemTime::now() + std::time::Duration::from_secs(60)).unwrap();
        assert_eq!(served(&root, "js/index.js", &root.join("web/js/index.js")), root.join("web/js/index.js"));
        fs::remove_dir_all(root).unwrap();
    }
}
